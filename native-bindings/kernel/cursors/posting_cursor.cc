#include "posting_cursor.h"

#include <array>
#include <bit>
#include <cstring>

#include "../common/bytes.h"
#include "../common/error.h"
#include "../postings/posting_layout.h"
#include "../window/contributions.h"

namespace gannet {
namespace {

// Shorter runs are cheaper to set bit by bit; in longer ones neighbours would wait for each other's word.
constexpr uint32_t kFlaggedRunMin = 16;

// Loads eight bytes of a bitset, whose size is a multiple of eight, from byte `at` on.
uint64_t LoadWord(std::span<const uint8_t> bytes, size_t at) { return Load<uint64_t>(bytes.data() + at); }

// Returns the number of documents of a bitset (empty: consecutive documents) before the one at `bit`.
uint32_t CountBefore(std::span<const uint8_t> bytes, uint32_t bit) {
  if (bytes.empty()) return bit;
  uint32_t count = 0;
  for (uint32_t word = 0; word < bit / 64; ++word) count += PopCount(LoadWord(bytes, 8 * size_t{word}));
  return count + PopCount(LoadWord(bytes, 8 * size_t{bit / 64}) & ((uint64_t{1} << (bit % 64)) - 1));
}

// Returns a mask of the windows that hold the offsets [first, last].
uint64_t WindowsBetween(uint32_t first, uint32_t last) {
  return (~uint64_t{0} << (first / kWindowSize)) & (~uint64_t{0} >> (63 - last / kWindowSize));
}

// The part of a bitset (empty: consecutive documents) that is in a range, aligned to the words of that range.
class AlignedBitset {
 public:
  AlignedBitset(WindowRange range, uint32_t first, uint32_t last, std::span<const uint8_t> bytes) {
    const uint32_t begin = std::max(first, range.base);
    const uint32_t end = std::min(last + 1, range.end);
    if (begin >= end) return;
    first_word_ = (begin - range.base) / 64;
    const uint32_t last_word = (end - 1 - range.base) / 64;
    word_count_ = last_word - first_word_ + 1;
    // Document of the first bit of the first word, relative to the bitset's first; may be negative.
    const int64_t origin = int64_t{range.base} + 64 * int64_t{first_word_} - first;
    uint32_t word = 0;
    do {
      words_[word] = bytes.empty() ? ~uint64_t{0} : WordAt(bytes, origin + 64 * int64_t{word});
    } while (++word < word_count_);
    words_[0] &= ~uint64_t{0} << ((begin - range.base) % 64);
    words_[word_count_ - 1] &= ~uint64_t{0} >> (63 - (end - 1 - range.base) % 64);
  }

  void AddTo(uint64_t* bits) const {
    for (uint32_t i = 0; i < word_count_; ++i) bits[first_word_ + i] |= words_[i];
  }

  // For a range that is a window.
  void AddTo(WindowBits* bits) const {
    if (word_count_ == 0) return;
    AddTo(bits->words);
    bits->used |= WordRange(64 * first_word_, 64 * (first_word_ + word_count_ - 1));
  }

  uint32_t CountMissing(const uint64_t* bits) {
    for (uint32_t i = 0; i < word_count_; ++i) words_[i] &= ~bits[first_word_ + i];
    return CountBits(words_.data(), word_count_);
  }

 private:
  // Returns 64 bits from bit `at` on, which may be before the first or after the last bit: those bits are zero.
  static uint64_t WordAt(std::span<const uint8_t> bytes, int64_t at) {
    if (at < 0) return Load<uint64_t>(bytes.data()) << -at;
    const size_t word = static_cast<size_t>(at) / 64 * 8;
    const unsigned shift = static_cast<unsigned>(at % 64);
    const uint64_t low = Load<uint64_t>(bytes.data() + word) >> shift;
    if (shift == 0 || word + 8 >= bytes.size()) return low;
    return low | Load<uint64_t>(bytes.data() + word + 8) << (64 - shift);
  }

  uint32_t first_word_ = 0;
  uint32_t word_count_ = 0;
  // A block has at most kBitsetWordsMask words, or kBlockSize consecutive documents; neither need begin at a word of
  // the range.
  std::array<uint64_t, kBitsetWordsMask + 2> words_;
};

// Returns true if any of the bits [begin, end), or of the others in their words, is set.
bool MayHaveBits(const uint64_t* bits, uint32_t begin, uint32_t end) {
  uint64_t any = 0;
  for (uint32_t word = begin / 64; word <= (end - 1) / 64 && any == 0; ++word) any = bits[word];
  return any != 0;
}

uint64_t MarkDocuments(const uint32_t* documents, uint32_t count, uint32_t base, uint64_t* bits) {
  if (count == 0) return 0;
  const auto mark = [&](uint32_t i) {
    const uint32_t offset = documents[i] - base;
    bits[offset / 64] |= uint64_t{1} << (offset % 64);
  };
  // Four streams, far apart, because neighbours would wait for each other's word.
  const uint32_t quarter = count / 4;
  for (uint32_t i = 0; i < quarter; ++i) {
    mark(i);
    mark(quarter + i);
    mark(2 * quarter + i);
    mark(3 * quarter + i);
  }
  for (uint32_t i = 4 * quarter; i < count; ++i) mark(i);
  if (documents[count - 1] - documents[0] < kWindowSize) {
    return WindowsBetween(documents[0] - base, documents[count - 1] - base);
  }
  uint64_t windows = 0;
  for (uint32_t i = 0; i < count; ++i) windows |= uint64_t{1} << ((documents[i] - base) / kWindowSize);
  return windows;
}

}  // namespace

bool PostingCursor::CoverSlowly(uint32_t document) {
  uint32_t from = 0;
  if (covered_from_ <= covered_to_ && document > covered_to_) {
    from = block_ + 1;
  } else if (document >= anchor_document_) {
    from = anchor_block_;
  }
  const uint32_t block = list_->FindBlock(from, document);
  if (block >= list_->block_count()) return false;
  EnterBlock(block);
  SetAnchor(document, block);
  return true;
}

// Makes the block the current one, decoded if it is not a bitset.
void PostingCursor::EnterBlock(uint32_t block) {
  if (block != block_) Enter(block, decoded_block_ != block && list_->PeekBitset(block, &bitset_first_, &bitset_));
  if (!is_bitset_) Decode(block);
}

// Remembers where to search from for earlier documents of the same window.
void PostingCursor::SetAnchor(uint32_t document, uint32_t block) {
  if (document / kWindowSize == anchor_document_ / kWindowSize && document >= anchor_document_) return;
  anchor_document_ = document;
  anchor_block_ = block;
}

bool PostingCursor::BitsetContains(uint32_t document) const {
  if (document < bitset_first_) return false;
  if (bitset_.empty()) return true;
  const uint32_t bit = document - bitset_first_;
  return bitset_[bit / 8] >> (bit % 8) & 1;
}

// Returns how many documents of the bitset are before this one.
uint32_t PostingCursor::BitsetRank(uint32_t document) const { return CountBefore(bitset_, document - bitset_first_); }

// The bitset's last document is the block's, which is not before the target unless the bitset is damaged.
uint32_t PostingCursor::NextInBitset(uint32_t target) const {
  if (target <= bitset_first_) return bitset_first_;
  if (bitset_.empty()) return target;
  uint32_t bit = target - bitset_first_;
  uint64_t word = LoadWord(bitset_, bit / 64 * size_t{8}) >> (bit % 64);
  while (word == 0 && (bit / 64 + 1) * size_t{8} < bitset_.size()) {
    bit = (bit / 64 + 1) * 64;
    word = LoadWord(bitset_, bit / 64 * size_t{8});
  }
  const uint32_t next = bitset_first_ + bit + static_cast<uint32_t>(std::countr_zero(word));
  if (word == 0 || next > covered_to_) throw Error(ErrorCode::kDamaged, "posting list: documents");
  return next;
}

// Divides at most kBlockSize documents into parts by the blocks that they may be in.
uint32_t PostingCursor::DivideByBlock(std::span<const uint32_t> documents, BlockPart* parts) const {
  uint32_t block = 0;
  if (covered_from_ <= covered_to_ && documents[0] >= covered_from_) {
    block = block_;
  } else if (documents[0] >= anchor_document_) {
    block = anchor_block_;
  }
  uint32_t part_count = 0;
  for (uint32_t i = 0; i < documents.size(); ++block) {
    block = list_->FindBlock(block, documents[i]);
    if (block >= list_->block_count()) break;
    const uint32_t begin = i;
    const uint32_t last = list_->last_document(block);
    while (i < documents.size() && documents[i] <= last) ++i;
    parts[part_count++] = {block, begin, i};
    // The blocks of long lists are far apart, so they are prefetched while others are searched for.
    if (block != block_) list_->Prefetch(block);
  }
  return part_count;
}

uint32_t PostingCursor::Intersect(uint32_t count, uint32_t* documents, uint32_t* postings, uint32_t* places) {
  std::array<BlockPart, kBlockSize> parts;
  uint32_t kept = 0;
  for (uint32_t begin = 0; begin < count; begin += kBlockSize) {
    const uint32_t length = std::min(kBlockSize, count - begin);
    const uint32_t part_count = DivideByBlock({documents + begin, length}, parts.data());
    for (uint32_t i = 0; i < part_count; ++i) {
      const BlockPart part{parts[i].block, begin + parts[i].begin, begin + parts[i].end};
      EnterBlock(part.block);
      if (is_bitset_) {
        IntersectBitset(part, documents, &kept, postings, places);
      } else {
        IntersectDecoded(part, documents, &kept, postings, places);
      }
    }
    if (part_count > 0) SetAnchor(documents[begin], parts[0].block);
  }
  return kept;
}

void PostingCursor::IntersectBitset(const BlockPart& part, uint32_t* documents, uint32_t* kept, uint32_t* postings,
                                    uint32_t* places) const {
  for (uint32_t i = part.begin; i < part.end; ++i) {
    const uint32_t document = documents[i];
    if (!BitsetContains(document)) continue;
    documents[*kept] = document;
    if (postings != nullptr) postings[*kept] = part.block * kBlockSize + BitsetRank(document);
    places[(*kept)++] = i;
  }
}

void PostingCursor::IntersectDecoded(const BlockPart& part, uint32_t* documents, uint32_t* kept, uint32_t* postings,
                                     uint32_t* places) const {
  uint32_t unused[kBlockSize];
  uint32_t* indexes = postings == nullptr ? unused : postings + *kept;
  const uint32_t found = FindInBlock(documents_, documents + part.begin, part.end - part.begin, documents + *kept,
                                     indexes, places + *kept);
  for (uint32_t i = 0; i < found; ++i) {
    indexes[i] += part.block * kBlockSize;
    places[*kept + i] += part.begin;
  }
  *kept += found;
}

void PostingCursor::AddBits(WindowRange range, WindowBits* bits, uint8_t* flags, uint64_t* flag_words,
                            uint32_t* first_posting) {
  uint32_t block = list_->FindBlock(bits_block_, range.base);
  if (block != bits_block_) bits_index_ = 0;
  bits_block_ = block;
  *first_posting = block * kBlockSize;
  for (bool is_first = true; block < list_->block_count(); ++block, is_first = false) {
    const uint32_t last = list_->last_document(block);
    uint32_t first;
    uint32_t before = 0;
    std::span<const uint8_t> bytes;
    if (decoded_block_ != block && list_->BlockBitset(block, &first, &bytes)) {
      if (first < range.base && range.base <= last) before = CountBefore(bytes, range.base - first);
      AlignedBitset(range, first, last, bytes).AddTo(bits);
    } else {
      Decode(block);
      const uint32_t begin = FirstFrom(block == bits_block_ ? bits_index_ : 0, range.base);
      const uint32_t stop = last < range.end ? length_ : FirstFrom(begin, range.end);
      before = begin;
      if (block == bits_block_) bits_index_ = begin;
      if (stop - begin < kFlaggedRunMin) {
        for (uint32_t i = begin; i < stop; ++i) bits->Add(documents_[i] - range.base);
      } else {
        for (uint32_t i = begin; i < stop; ++i) flags[documents_[i] - range.base] = 1;
        *flag_words |= WordRange(documents_[begin] - range.base, documents_[stop - 1] - range.base);
      }
    }
    if (is_first) *first_posting += before;
    if (last >= range.end - 1) return;
  }
}

uint32_t PostingCursor::FirstMarkedBlock(WindowRange range) {
  mark_block_ = list_->FindBlock(range.base >= mark_from_ ? mark_block_ : 0, range.base);
  mark_from_ = range.base;
  return mark_block_;
}

uint64_t PostingCursor::Mark(WindowRange range, uint64_t* bits) {
  uint32_t decoded[kBlockSize];
  uint64_t windows = 0;
  for (uint32_t block = FirstMarkedBlock(range); block < list_->block_count() && FirstCovered(block) < range.end; ++block) {
    const uint32_t last = list_->last_document(block);
    const uint32_t length = list_->block_length(block);
    uint32_t first;
    std::span<const uint8_t> bytes;
    if (list_->BlockBitset(block, &first, &bytes)) {
      const uint32_t begin = std::max(first, range.base) - range.base;
      const uint32_t end = std::min(last + 1, range.end) - range.base;
      if (begin < end) {
        AlignedBitset(range, first, last, bytes).AddTo(bits);
        // A window between the first and the last may have none; it is then examined in vain.
        windows |= WindowsBetween(begin, end - 1);
      }
    } else {
      list_->DecodeDocuments(block, decoded);
      const uint32_t* begin = decoded;
      const uint32_t* end = decoded + length;
      if (decoded[0] < range.base) begin = std::lower_bound(begin, end, range.base);
      if (last >= range.end) end = std::lower_bound(begin, end, range.end);
      windows |= MarkDocuments(begin, static_cast<uint32_t>(end - begin), range.base, bits);
    }
    if (last >= range.end - 1) break;
  }
  return windows;
}

uint32_t PostingCursor::CountUnmarked(WindowRange range, const uint64_t* bits) {
  uint32_t decoded[kBlockSize];
  uint32_t sum = 0;
  for (uint32_t block = FirstMarkedBlock(range); block < list_->block_count() && FirstCovered(block) < range.end; ++block) {
    const uint32_t last = list_->last_document(block);
    const uint32_t length = list_->block_length(block);
    const uint32_t first_covered = FirstCovered(block);
    const bool is_inside = first_covered >= range.base && last >= first_covered && last < range.end;
    uint32_t first;
    std::span<const uint8_t> bytes;
    if (is_inside && !MayHaveBits(bits, first_covered - range.base, last + 1 - range.base)) {
      sum += length;
    } else if (list_->BlockBitset(block, &first, &bytes)) {
      sum += AlignedBitset(range, first, last, bytes).CountMissing(bits);
    } else {
      list_->DecodeDocuments(block, decoded);
      const uint32_t* begin = decoded;
      const uint32_t* end = decoded + length;
      if (!is_inside) {
        begin = std::lower_bound(begin, end, range.base);
        end = std::lower_bound(begin, end, range.end);
      }
      for (const uint32_t* document = begin; document < end; ++document) {
        const uint32_t offset = *document - range.base;
        sum += static_cast<uint32_t>(~bits[offset / 64] >> (offset % 64)) & 1;
      }
    }
    if (last >= range.end - 1) break;
  }
  return sum;
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
  // The bound of a block that extends into this range from the previous one is known already.
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

void PostingCursor::LoadFrequencies(uint32_t block) {
  if (block >= list_->block_count()) throw Error(ErrorCode::kDamaged, "posting list: documents");
  list_->DecodeFrequencies(block, frequencies_);
  frequency_block_ = block;
}

void PostingCursor::LoadContributions(const TermScoring& scoring) {
  const uint32_t* frequencies = this->frequencies();
  Contributions(documents_, frequencies, length_, scoring.norms, scoring.saturation, scoring.weight, contributions_);
  contribution_block_ = decoded_block_;
}

std::span<const uint32_t> PostingCursor::PositionsOf(uint32_t posting) {
  // Decoding the positions of this number of documents one by one costs as much as decoding the whole block.
  constexpr uint32_t kRequestsMax = 3;
  const uint32_t block = posting / kBlockSize;
  const uint32_t index = posting % kBlockSize;
  if (block >= list_->block_count() || index >= list_->block_length(block)) {
    throw Error(ErrorCode::kDamaged, "posting list: documents");
  }
  if (block != position_block_) {
    position_block_ = block;
    position_requests_ = 0;
    has_block_positions_ = false;
  }
  if (!has_block_positions_) {
    if (++position_requests_ <= kRequestsMax) {
      list_->DecodePositions(block, index, &positions_);
      return positions_;
    }
    LoadPositions(block);
    has_block_positions_ = true;
  }
  return {positions_.data() + position_begins_[index], position_begins_[index + 1] - position_begins_[index]};
}

void PostingCursor::LoadPositions(uint32_t block) {
  position_begins_.resize(kBlockSize + 1);
  list_->DecodeBlockPositions(block, position_begins_.data() + 1, &positions_);
}

}  // namespace gannet
