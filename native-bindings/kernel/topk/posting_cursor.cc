#include "posting_cursor.h"

#include <array>
#include <cstring>

namespace gannet {
namespace {

// Up to eight bytes of a bitset from byte `at` on.
uint64_t LoadWord(std::span<const uint8_t> bytes, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
  return word;
}

// Adds a bitset that begins at document `first` to the window's; returns how many of its bits lie before the range.
uint32_t AddBitset(WindowRange range, uint32_t first, std::span<const uint8_t> bytes, WindowBits* bits) {
  uint32_t before = 0;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = LoadWord(bytes, at);
    uint64_t document = first + 8 * uint64_t{at};
    if (document >= range.end) break;
    if (document < range.base) {
      const uint64_t skipped = range.base - document;
      if (skipped >= 64) {
        before += PopCount(word);
        continue;
      }
      before += PopCount(word & ((uint64_t{1} << skipped) - 1));
      word >>= skipped;
      document = range.base;
    }
    const auto offset = static_cast<uint32_t>(document - range.base);
    bits->words[offset / 64] |= word << (offset % 64);
    bits->used |= uint64_t{1} << (offset / 64);
    if (offset % 64 != 0 && offset / 64 + 1 < kWindowWords) {
      bits->words[offset / 64 + 1] |= word >> (64 - offset % 64);
      bits->used |= uint64_t{1} << (offset / 64 + 1);
    }
  }
  return before;
}

}  // namespace

void PostingCursor::AddBits(WindowRange range, WindowBits* bits, uint8_t* flags, uint64_t* flag_words,
                            uint32_t* first_posting) {
  uint32_t block = list_->FindBlock(bits_block_, range.base);
  bits_block_ = block;
  *first_posting = block * kBlockSize;
  for (bool is_first = true; block < list_->block_count(); ++block, is_first = false) {
    const uint32_t last = list_->last_document(block);
    uint32_t first;
    uint32_t before = 0;
    std::span<const uint8_t> bytes;
    if (list_->BlockBitset(block, &first, &bytes)) {
      if (!bytes.empty()) {
        before = AddBitset(range, first, bytes, bits);
      } else {
        before = first < range.base ? range.base - first : 0;
        const uint32_t begin = std::max(first, range.base);
        const uint32_t end = std::min(last + 1, range.end);
        if (begin < end) bits->AddRange(begin - range.base, end - range.base);
      }
    } else {
      if (block != block_ || length_ == 0) {
        Load(block);
        covered_from_ = documents_[0];
      }
      const uint32_t begin =
          documents_[0] >= range.base || documents_[length_ - 1] < range.base ? 0 : LowerBound(range.base);
      const uint32_t stop = documents_[length_ - 1] < range.end ? length_ : LowerBound(range.end);
      before = begin;
      if (begin < stop && documents_[begin] >= range.base) {
        for (uint32_t i = begin; i < stop; ++i) flags[documents_[i] - range.base] = 1;
        *flag_words |= TouchedWords(documents_ + begin, stop - begin, range.base);
      }
    }
    if (is_first) *first_posting += before;
    if (last >= range.end - 1) return;
    bits_block_ = block;
  }
}

float PostingCursor::ComputeBound(uint32_t block, float weight, const float* saturation) const {
  std::array<Impact, kImpactsPerBlock> scratch;
  float bound = 0;
  for (const Impact& impact : list_->BlockImpacts(block, &scratch)) {
    if (impact.frequency == kSaturatedImpact) return 1;
    const float frequency = weight * static_cast<float>(impact.frequency);
    bound = std::max(bound, frequency / (frequency + saturation[impact.norm]));
  }
  return bound;
}

float PostingCursor::Bound(WindowRange range, float weight, const float* saturation) {
  uint32_t block = list_->FindBlock(bounds_begin_, range.base);
  // The block that reaches into this range from the one before has its bound already.
  const bool is_known = block >= bounds_begin_ && block < bounds_end_;
  const float known = is_known ? bounds_[block - bounds_begin_] : 0;
  const uint32_t first = block;
  bounds_begin_ = first;
  float bound = 0;
  for (; block < list_->block_count() && block - first < kWindowBlocksMax; ++block) {
    if (block > 0 && list_->last_document(block - 1) + 1 >= range.end) break;
    bounds_[block - first] = block == first && is_known ? known : ComputeBound(block, weight, saturation);
    bound = std::max(bound, bounds_[block - first]);
    if (list_->last_document(block) >= range.end - 1) {
      ++block;
      break;
    }
  }
  bounds_end_ = block;
  return bound;
}

void PostingCursor::LoadPositions() {
  uint32_t counts[kBlockSize];
  list_->DecodeBlockPositions(block_, counts, &positions_);
  position_begins_.resize(kBlockSize + 1);
  uint32_t begin = 0;
  for (uint32_t i = 0; i < length_; ++i) {
    position_begins_[i] = begin;
    // Counts and positions come from one decoder, but what is damaged must not be read behind its end.
    begin = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{begin} + counts[i], positions_.size()));
  }
  position_begins_[length_] = begin;
  position_block_ = block_;
}

}  // namespace gannet
