// Walks one posting list, one block at a time.
//
// Windows are visited in ascending order. Within a window, documents may be asked for in any order (matching comes
// before scoring), which is cheap because the first block of the window is remembered. A block is decoded if its
// documents are needed one after the other; whether a block that is stored as a bitset has a document is read from the
// bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../common/simd.h"
#include "../postings/posting_list.h"
#include "../window/window.h"
#include "document_lookup.h"

namespace gannet {

inline constexpr uint32_t kNoDocument = 0xffffffffu;

// Returns the mask of the words that hold these documents of the window at `base`. Short runs mark documents one by
// one, long ones a range.
inline uint64_t TouchedWords(const uint32_t* documents, uint32_t count, uint32_t base) {
  constexpr uint32_t kShortRun = 64;
  if (count >= kShortRun) return WordRange(documents[0] - base, documents[count - 1] - base);
  uint64_t words = 0;
  for (uint32_t i = 0; i < count; ++i) words |= uint64_t{1} << ((documents[i] - base) / 64);
  return words;
}

// What is needed to score a posting: BM25's constants of a list, and the documents' lengths.
struct TermScoring {
  const uint8_t* norms = nullptr;     // by document
  const float* saturation = nullptr;  // by norm code
  float weight = 0;
};

class PostingCursor {
 public:
  void Reset(const PostingList* list) {
    list_ = list;
    block_ = kNoBlock;
    decoded_block_ = kNoBlock;
    frequency_block_ = kNoBlock;
    contribution_block_ = kNoBlock;
    position_block_ = kNoBlock;
    covered_from_ = 1;  // the range up to covered_to_ = 0 is empty
    covered_to_ = 0;
    anchor_block_ = 0;
    anchor_document_ = 0;
    bits_block_ = 0;
    bits_index_ = 0;
    mark_block_ = 0;
    mark_from_ = 0;
    run_block_ = 0;
    run_index_ = 0;
    bound_from_ = 0;
    bounds_begin_ = 0;
    bounds_end_ = 0;
  }

  const PostingList& list() const { return *list_; }
  uint32_t document_frequency() const { return list_->document_frequency(); }

  // Returns the first document of the list that is >= target; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target) {
    if (!Cover(target)) return kNoDocument;
    if (!is_bitset_) return documents_[LowerBound(target)];
    return NextInBitset(target);
  }

  // Returns a lower bound of that document, without decoding anything.
  uint32_t NextDocumentBound(uint32_t target) {
    if (target >= covered_from_ && target <= covered_to_) return NextDocument(target);
    bound_from_ = list_->FindBlock(bound_from_, target);
    if (bound_from_ >= list_->block_count()) return kNoDocument;
    return std::max(target, FirstCovered(bound_from_));
  }

  // Returns the most that w * f / (w * f + K) can be for postings in the range, where w is `weight` and K is
  // `saturation` by norm code. Decodes nothing. Ranges must ascend from call to call, and the weight must not change.
  float Bound(WindowRange range, float weight, const float* saturation);
  // The same for a block of the range that Bound was last called for.
  float BlockBound(uint32_t block) const {
    return block >= bounds_begin_ && block < bounds_end_ ? bounds_[block - bounds_begin_] : 1;
  }

  // The same for any block.
  float ComputeBound(uint32_t block, float weight, const float* saturation) const;

  // Writes the documents of a block to `out`, which must have room for kBlockSize.
  void CopyBlock(uint32_t block, uint32_t* out) {
    Decode(block);
    std::copy_n(documents_, length_, out);
  }

  // Moves to the posting of the document; returns false if the list does not have it.
  bool Seek(uint32_t document) {
    if (!Cover(document)) return false;
    if (is_bitset_) {
      if (!BitsetContains(document)) return false;
      index_ = BitsetRank(document);
      return true;
    }
    index_ = LowerBound(document);
    return documents_[index_] == document;
  }

  // Keeps, in *documents, those of the `count` ascending documents that the list has. Writes the numbers of their
  // postings (unless `postings` is null, which is cheaper) and their former indexes in *documents. Returns how many
  // there are. Cheapest if documents ascend from call to call.
  uint32_t Intersect(uint32_t count, uint32_t* documents, uint32_t* postings, uint32_t* places);

  // To be called after a successful Seek.
  uint32_t posting() const { return block_ * kBlockSize + index_; }
  uint32_t Frequency() { return FrequencyOf(posting()); }
  std::span<const uint32_t> Positions() { return PositionsOf(posting()); }
  void DecodePositions(std::vector<uint32_t>* out) const { list_->DecodePositions(block_, index_, out); }

  // Returns the frequency of a posting by its number in the list.
  uint32_t FrequencyOf(uint32_t posting) { return FrequenciesOf(posting / kBlockSize)[posting % kBlockSize]; }
  // Returns the positions in the document of a posting, ascending; valid until those of another are asked for. If
  // several of a block have been asked for, the positions of the whole block are decoded.
  std::span<const uint32_t> PositionsOf(uint32_t posting);

  // Prefetches the positions of these ascending postings.
  void PrefetchPositions(std::span<const uint32_t> postings) const {
    uint32_t last = kNoBlock;
    for (const uint32_t posting : postings) {
      const uint32_t block = posting / kBlockSize;
      if (block != last) list_->PrefetchPositions(block);
      last = block;
    }
  }

  // Adds the postings in the range: as bits or, for blocks that must be decoded, as flags, whose words are recorded in
  // *flag_words. Bits and flags together are the list's part of the window. *first_posting is the number of the first
  // posting in the range. Ranges must ascend from call to call.
  void AddBits(WindowRange range, WindowBits* bits, uint8_t* flags, uint64_t* flag_words, uint32_t* first_posting);

  // Sets the bits (of document - range.base) of the postings in the range, which is at most 64 windows long. Returns a
  // mask of the windows that received any. Cheapest if ranges ascend from call to call. Does not change the current
  // block.
  uint64_t Mark(WindowRange range, uint64_t* bits);

  // Returns how many postings in the range have no bit (of document - range.base) in `bits`. Ranges as for Mark.
  uint32_t CountUnmarked(WindowRange range, const uint64_t* bits);

  // Calls choose(block) for the blocks that may have postings in the range, in order. If it returns true, calls
  // visit(begin, end) with the indexes of these postings in the block: documents(), and frequencies() or
  // contributions(), are then valid. Ranges must ascend from call to call.
  template <typename Choose, typename Visit>
  void ForEachRun(WindowRange range, Choose&& choose, Visit&& visit) {
    uint32_t block = list_->FindBlock(run_block_, range.base);
    if (block != run_block_) run_index_ = 0;
    run_block_ = block;
    uint32_t from = run_index_;
    for (; block < list_->block_count(); ++block, from = 0) {
      if (FirstCovered(block) >= range.end) return;
      const uint32_t last = list_->last_document(block);
      if (choose(block)) {
        Decode(block);
        const uint32_t begin = FirstFrom(from, range.base);
        const uint32_t end = last < range.end ? length_ : FirstFrom(begin, range.end);
        if (begin < end) visit(begin, end);
        if (block == run_block_) run_index_ = begin;
      }
      if (last >= range.end - 1) return;
    }
  }
  // The same, but calls visit_bits(block, first document, bits) instead for blocks that are whole words of bits within
  // the range; they are not decoded.
  template <typename Choose, typename Visit, typename VisitBits>
  void ForEachRun(WindowRange range, Choose&& choose, Visit&& visit, VisitBits&& visit_bits) {
    const auto choose_decoded = [&](uint32_t block) {
      if (!choose(block)) return false;
      uint32_t first;
      std::span<const uint8_t> bits;
      if (FirstCovered(block) < range.base || decoded_block_ == block || !list_->PeekBitset(block, &first, &bits)) return true;
      if (bits.empty() || first + 8 * bits.size() > range.end) return true;
      visit_bits(block, first, bits);
      return false;
    };
    ForEachRun(range, choose_decoded, visit);
  }
  const uint32_t* documents() const { return documents_; }
  // Returns the frequencies of all postings of a block; kVectorPadding more may be read.
  const uint32_t* FrequenciesOf(uint32_t block) {
    if (block != frequency_block_) LoadFrequencies(block);
    return frequencies_;
  }
  const uint32_t* frequencies() { return FrequenciesOf(decoded_block_); }
  // Returns weight * f / (f + K) of every posting of the block. The scoring must be the same in every call.
  const float* contributions(const TermScoring& scoring) {
    if (contribution_block_ != decoded_block_) LoadContributions(scoring);
    return contributions_;
  }

 private:
  static constexpr uint32_t kNoBlock = 0xffffffffu;
  // Maximum number of blocks that overlap a window: full blocks of 128 documents within it, and one at either end that
  // reaches beyond it.
  static constexpr uint32_t kWindowBlocksMax = kWindowSize / kBlockSize + 2;

  // Returns the first block that may have postings in the range, for Mark and CountUnmarked.
  uint32_t FirstMarkedBlock(WindowRange range);
  void LoadPositions(uint32_t block);
  void LoadFrequencies(uint32_t block);
  void LoadContributions(const TermScoring& scoring);
  bool BitsetContains(uint32_t document) const;
  uint32_t BitsetRank(uint32_t document) const;
  uint32_t NextInBitset(uint32_t target) const;

  // Returns the document below which no document is in the block.
  uint32_t FirstCovered(uint32_t block) const { return block == 0 ? 0 : list_->last_document(block - 1) + 1; }

  void Decode(uint32_t block) {
    if (decoded_block_ == block) return;
    list_->DecodeDocuments(block, documents_);
    length_ = list_->block_length(block);
    std::fill(documents_ + length_, documents_ + kBlockSize, kBlockPadding);
    decoded_block_ = block;
    if (block != block_) Enter(block, false);
  }

  void Enter(uint32_t block, bool is_bitset) {
    block_ = block;
    is_bitset_ = is_bitset;
    covered_from_ = FirstCovered(block);
    covered_to_ = list_->last_document(block);
  }

  // Makes the first block whose last document is >= document the current one; returns false if there is none.
  bool Cover(uint32_t document) {
    if (document >= covered_from_ && document <= covered_to_) {
      if (!is_bitset_) Decode(block_);
      return true;
    }
    return CoverSlowly(document);
  }

  bool CoverSlowly(uint32_t document);
  void EnterBlock(uint32_t block);
  void SetAnchor(uint32_t document, uint32_t block);

  // The sought documents [begin, end), which only this block may have.
  struct BlockPart {
    uint32_t block;
    uint32_t begin;
    uint32_t end;
  };
  uint32_t DivideByBlock(std::span<const uint32_t> documents, BlockPart* parts) const;
  void IntersectBitset(const BlockPart& part, uint32_t* documents, uint32_t* kept, uint32_t* postings,
                       uint32_t* places) const;
  void IntersectDecoded(const BlockPart& part, uint32_t* documents, uint32_t* kept, uint32_t* postings,
                        uint32_t* places) const;

  // Returns the index of the first document >= target in the decoded block, whose last document must be >= target.
  uint32_t LowerBound(uint32_t target) const {
    const uint32_t* base = documents_;
    uint32_t count = length_;
    while (count > 1) {
      const uint32_t half = count / 2;
      // A product, because a conditional would be compiled to an unpredictable branch.
      base += static_cast<uint32_t>(base[half - 1] < target) * half;
      count -= half;
    }
    return static_cast<uint32_t>(base - documents_);
  }

  // Returns the index of the first document >= target at or after `from`; length_ if there is none. It is near `from`
  // in most calls.
  uint32_t FirstFrom(uint32_t from, uint32_t target) const {
    uint32_t low = from;
    uint32_t step = 1;
    while (low + step <= length_ && documents_[low + step - 1] < target) {
      low += step;
      step *= 2;
    }
    uint32_t high = std::min(low + step - 1, length_);
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (documents_[middle] < target) low = middle + 1; else high = middle;
    }
    return low;
  }

  const PostingList* list_ = nullptr;
  uint32_t block_ = kNoBlock;          // the current block
  uint32_t covered_from_ = 1;          // the current block has no documents outside [covered_from_, covered_to_]
  uint32_t covered_to_ = 0;
  bool is_bitset_ = false;             // the current block is read as a bitset, without decoding it
  uint32_t bitset_first_ = 0;
  std::span<const uint8_t> bitset_;    // empty: all documents from bitset_first_ on
  uint32_t index_ = 0;                 // in the current block
  uint32_t decoded_block_ = kNoBlock;
  uint32_t length_ = 0;                // of the decoded block
  uint32_t frequency_block_ = kNoBlock;
  uint32_t contribution_block_ = kNoBlock;
  uint32_t anchor_block_ = 0;
  uint32_t anchor_document_ = 0;
  uint32_t position_block_ = kNoBlock;
  uint32_t position_requests_ = 0;     // of position_block_
  bool has_block_positions_ = false;   // of position_block_
  uint32_t bits_block_ = 0;            // where AddBits continues
  uint32_t bits_index_ = 0;
  uint32_t mark_block_ = 0;            // where Mark continues; mark_from_ is the document
  uint32_t mark_from_ = 0;
  uint32_t run_block_ = 0;             // where ForEachRun continues
  uint32_t run_index_ = 0;
  uint32_t bound_from_ = 0;            // where NextDocumentBound continues
  uint32_t bounds_begin_ = 0;          // bounds_ are of the blocks [bounds_begin_, bounds_end_)
  uint32_t bounds_end_ = 0;
  // Vector code may read whole vectors starting at any posting.
  alignas(64) uint32_t documents_[kBlockSize + kVectorPadding] = {};
  alignas(64) uint32_t frequencies_[kBlockSize + kVectorPadding] = {};
  alignas(64) float contributions_[kBlockSize + kVectorPadding] = {};
  float bounds_[kWindowBlocksMax] = {};
  std::vector<uint32_t> positions_;        // of all documents of position_block_, or of one
  std::vector<uint32_t> position_begins_;  // by document of the block, and one more; the first is 0
};

}  // namespace gannet
