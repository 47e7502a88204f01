#include "edit_automaton.h"

#include <algorithm>

namespace gannet {
namespace {

constexpr uint32_t kLastCodePoint = 0x10ffff;
constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kBehindSurrogates = 0xe000;

// Reads one code point. Dictionaries hold well-formed UTF-8; bytes that are not are taken one at a time.
uint32_t ReadCodePoint(std::string_view text, size_t* offset) {
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at])); };
  const uint32_t lead = byte(*offset);
  const size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 1 || *offset + length > text.size()) {
    ++*offset;
    return lead;
  }
  uint32_t code_point = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) code_point = code_point << 6 | (byte(*offset + i) & 0x3f);
  *offset += length;
  return code_point;
}

void AppendCodePoint(uint32_t code_point, std::string* out) {
  const auto add = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xc0 | code_point >> 6);
    add(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    add(0xe0 | code_point >> 12);
    add(0x80 | (code_point >> 6 & 0x3f));
    add(0x80 | (code_point & 0x3f));
  } else {
    add(0xf0 | code_point >> 18);
    add(0x80 | (code_point >> 12 & 0x3f));
    add(0x80 | (code_point >> 6 & 0x3f));
    add(0x80 | (code_point & 0x3f));
  }
}

}  // namespace

EditAutomaton::EditAutomaton(std::string_view word, uint32_t distance_max) : distance_max_(distance_max) {
  for (size_t offset = 0; offset < word.size();) word_.push_back(ReadCodePoint(word, &offset));
  letters_ = word_;
  std::sort(letters_.begin(), letters_.end());
  letters_.erase(std::unique(letters_.begin(), letters_.end()), letters_.end());
  width_ = word_.size() + 1;
  // One row more than the longest string that can match: the row of a text that is too long is never alive.
  rows_.assign((word_.size() + distance_max + 2) * width_, static_cast<uint8_t>(distance_max + 1));
  trial_row_.resize(width_);
  for (size_t i = 0; i < width_; ++i) Row(0)[i] = static_cast<uint8_t>(std::min<size_t>(i, distance_max + 1));
}

// Values above the maximum are all the same to us, so they are cut to maximum + 1, and cells outside the band of
// |depth - i| <= maximum hold that.
bool EditAutomaton::FillRow(size_t depth, uint32_t code_point, uint8_t* row) const {
  const uint32_t too_far = distance_max_ + 1;
  const uint8_t* above = Row(depth - 1);
  const size_t begin = depth > distance_max_ ? depth - distance_max_ : 0;
  const size_t end = std::min(width_, depth + distance_max_ + 1);
  uint32_t least = too_far;
  for (size_t i = begin; i < end; ++i) {
    uint32_t value;
    if (i == 0) {
      value = static_cast<uint32_t>(depth);
    } else {
      value = above[i - 1] + (word_[i - 1] == code_point ? 0u : 1u);
      value = std::min(value, above[i] + 1u);
      if (i > begin) value = std::min(value, row[i - 1] + 1u);
      if (i > 1 && depth > 1 && word_[i - 2] == code_point && word_[i - 1] == depths_[depth - 2].code_point) {
        value = std::min(value, Row(depth - 2)[i - 2] + 1u);
      }
    }
    value = std::min(value, too_far);
    row[i] = static_cast<uint8_t>(value);
    least = std::min(least, value);
  }
  if (begin > 0) row[begin - 1] = static_cast<uint8_t>(too_far);
  if (end < width_) row[end] = static_cast<uint8_t>(too_far);
  return least <= distance_max_;
}

bool EditAutomaton::IsAlive(size_t depth, uint32_t code_point) const {
  if (depth > word_.size() + distance_max_) return false;
  if (FillRow(depth, code_point, trial_row_.data())) return true;
  // A transposition may bring back to life what the row calls dead: its first half costs, its second does not.
  if (depth < 1 || depth >= width_) return false;
  const uint8_t* above = Row(depth - 1);
  for (size_t i = depth > distance_max_ + 1 ? depth - distance_max_ - 1 : 1;
       i + 1 < width_ && i <= depth + distance_max_; ++i) {
    if (word_[i] == code_point && above[i - 1] + 1u <= distance_max_) return true;
  }
  return false;
}

bool EditAutomaton::Push(uint32_t code_point, uint32_t end) {
  const size_t depth = depths_.size() + 1;
  if (!IsAlive(depth, code_point)) return false;
  std::copy(trial_row_.begin(), trial_row_.end(), Row(depth));
  depths_.push_back({end, code_point});
  return true;
}

bool EditAutomaton::Accept(std::string_view next) {
  const size_t shorter = std::min(next.size(), text_.size());
  size_t common = 0;
  while (common < shorter && next[common] == text_[common]) ++common;
  while (!depths_.empty() && depths_.back().end > common) depths_.pop_back();
  text_.assign(next);
  is_dead_ = false;
  for (size_t offset = depths_.empty() ? 0 : depths_.back().end; offset < next.size();) {
    const uint32_t code_point = ReadCodePoint(next, &offset);
    if (!Push(code_point, static_cast<uint32_t>(offset))) {
      is_dead_ = true;
      killer_ = code_point;
      return false;
    }
  }
  return distance() <= distance_max_;
}

uint32_t EditAutomaton::distance() const {
  const size_t depth = depths_.size();
  // The last cell is outside the band where the lengths differ by too much.
  const bool in_band = width_ - 1 <= depth + distance_max_ && depth <= width_ - 1 + distance_max_;
  return in_band ? Row(depth)[width_ - 1] : distance_max_ + 1;
}

bool EditAutomaton::SkipTo(std::string* seek) const {
  if (!is_dead_) return false;
  seek->clear();
  // From the deepest living prefix upwards: the next larger code point that keeps it alive. Only letters of the word
  // differ from any other code point, so these and one stranger are all there is to try.
  uint32_t killer = killer_;
  // A trial stands on rows of its own depth and above, all of which are good.
  for (size_t depth = depths_.size();; --depth) {
    uint32_t best = kLastCodePoint + 1;
    uint32_t stranger = killer + 1;
    if (stranger >= kFirstSurrogate && stranger < kBehindSurrogates) stranger = kBehindSurrogates;
    while (std::binary_search(letters_.begin(), letters_.end(), stranger)) ++stranger;
    if (stranger <= kLastCodePoint && IsAlive(depth + 1, stranger)) best = stranger;
    for (auto letter = std::upper_bound(letters_.begin(), letters_.end(), killer);
         letter != letters_.end() && *letter < best; ++letter) {
      if (IsAlive(depth + 1, *letter)) best = *letter;
    }
    if (best <= kLastCodePoint) {
      seek->assign(text_, 0, depth == 0 ? 0 : depths_[depth - 1].end);
      AppendCodePoint(best, seek);
      return true;
    }
    if (depth == 0) return true;
    killer = depths_[depth - 1].code_point;
  }
}

}  // namespace gannet
