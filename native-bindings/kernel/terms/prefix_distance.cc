#include "prefix_distance.h"

#include <algorithm>

#include "../analysis/utf8.h"

namespace gannet {

PrefixDistance::PrefixDistance(std::string_view word, uint32_t distance_max) : distance_max_(distance_max) {
  for (size_t at = 0; at < word.size() && word_.size() < kWordCodePointsMax;) {
    const DecodedCharacter character = DecodeUtf8(word.data() + at, word.size() - at);
    word_.push_back(character.code);
    at += character.length;
  }
  width_ = word_.size() + 1;
  // A beginning longer than the word plus the edits is no nearer than a shorter one.
  rows_.resize(width_ * (word_.size() + distance_max + 1));
  for (size_t i = 0; i < width_; ++i) Row(0)[i] = static_cast<uint8_t>(i);
  depths_.push_back({0, 0, distance_max + 1, 0});
}

uint32_t PrefixDistance::Of(std::string_view text) {
  const size_t common =
      static_cast<size_t>(std::mismatch(text.begin(), text.end(), text_.begin(), text_.end()).first - text.begin());
  // Most neighbours in a dictionary differ only after the place where the answer was decided.
  if (common == text_.size() && is_decided_) return depths_.back().best;
  while (depths_.back().end > common) depths_.pop_back();
  size_t at = depths_.back().end;
  for (is_decided_ = IsDecided(); at < text.size() && !is_decided_; is_decided_ = IsDecided()) {
    const DecodedCharacter character = DecodeUtf8(text.data() + at, text.size() - at);
    at += character.length;
    Push(character.code, static_cast<uint32_t>(at));
  }
  text_.assign(text.substr(0, at));
  return depths_.back().best;
}

bool PrefixDistance::IsDecided() const {
  if (depths_.size() * width_ >= rows_.size()) return true;
  const Depth& last = depths_.back();
  if (last.best == 0) return true;
  // A swap of neighbours reaches back over one row.
  const uint32_t before = depths_.size() > 1 ? depths_[depths_.size() - 2].row_minimum + 1 : distance_max_ + 1;
  return std::min(last.row_minimum, before) > std::min(distance_max_, last.best);
}

bool PrefixDistance::EndsWord(uint32_t code_point) const {
  const size_t length = word_.size();
  if (length == 0) return true;
  if (word_[length - 1] == code_point) return true;
  return length > 1 && word_[length - 2] == code_point && word_[length - 1] == depths_.back().code_point;
}

void PrefixDistance::Push(uint32_t code_point, uint32_t end) {
  const size_t depth = depths_.size();
  const uint8_t* above = Row(depth - 1);
  const uint8_t* before = depth > 1 ? Row(depth - 2) : nullptr;
  uint8_t* row = Row(depth);
  row[0] = static_cast<uint8_t>(depth);
  uint8_t minimum = row[0];
  for (size_t i = 1; i < width_; ++i) {
    uint32_t best = std::min(above[i], row[i - 1]) + 1u;
    best = std::min<uint32_t>(best, above[i - 1] + (word_[i - 1] == code_point ? 0u : 1u));
    if (before != nullptr && i > 1 && word_[i - 1] == depths_.back().code_point && word_[i - 2] == code_point) {
      best = std::min<uint32_t>(best, before[i - 2] + 1u);
    }
    row[i] = static_cast<uint8_t>(best);
    minimum = std::min(minimum, row[i]);
  }
  const bool ends_word = EndsWord(code_point);
  const uint32_t best = depths_.back().best;
  depths_.push_back({end, code_point, ends_word ? std::min<uint32_t>(best, row[width_ - 1]) : best, minimum});
}

}  // namespace gannet
