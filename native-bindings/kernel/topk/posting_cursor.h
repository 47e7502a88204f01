// Walks one posting list, a decoded block at a time.
//
// Windows are visited in ascending order; within a window, documents may be asked for in any order (matching
// comes before scoring), which is cheap because the first block of the window is remembered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../postings/posting_list.h"
#include "simd.h"
#include "window.h"

namespace gannet {

inline constexpr uint32_t kNoDocument = 0xffffffffu;

// The words that hold these documents of the window at `base`. Short runs mark them one by one, long ones as a range.
inline uint64_t TouchedWords(const uint32_t* documents, uint32_t count, uint32_t base) {
  constexpr uint32_t kShortRun = 64;
  if (count >= kShortRun) return WordRange(documents[0] - base, documents[count - 1] - base);
  uint64_t words = 0;
  for (uint32_t i = 0; i < count; ++i) words |= uint64_t{1} << ((documents[i] - base) / 64);
  return words;
}

class PostingCursor {
 public:
  void Reset(const PostingList* list) {
    list_ = list;
    block_ = kNoBlock;
    frequency_block_ = kNoBlock;
    position_block_ = kNoBlock;
    bits_block_ = 0;
    run_block_ = 0;
    bound_from_ = 0;
    bounds_begin_ = 0;
    bounds_end_ = 0;
    covered_from_ = 0;
    length_ = 0;
    anchor_block_ = 0;
    anchor_document_ = 0;
  }

  const PostingList& list() const { return *list_; }
  uint32_t document_frequency() const { return list_->document_frequency(); }

  // The first document of the list that is >= target; kNoDocument if none.
  uint32_t NextDocument(uint32_t target) {
    if (!Cover(target)) return kNoDocument;
    return documents_[LowerBound(target)];
  }

  // The same without decoding anything: a lower bound of that document.
  uint32_t NextDocumentBound(uint32_t target) {
    if (target >= covered_from_ && length_ > 0 && target <= documents_[length_ - 1]) {
      return documents_[LowerBound(target)];
    }
    bound_from_ = list_->FindBlock(bound_from_, target);
    if (bound_from_ >= list_->block_count()) return kNoDocument;
    return bound_from_ == 0 ? target : std::max(target, list_->last_document(bound_from_ - 1) + 1);
  }

  // The most that w * f / (w * f + K) can be for postings in the range, w being `weight` and K of `saturation`, by
  // norm code. Decodes nothing. Ranges must ascend from call to call, and the weight be the same.
  float Bound(WindowRange range, float weight, const float* saturation);
  // The same for one of the blocks of the range that Bound was last called for.
  float BlockBound(uint32_t block) const {
    return block >= bounds_begin_ && block < bounds_end_ ? bounds_[block - bounds_begin_] : 1;
  }

  // Moves to the posting of the document; false where the list does not have it.
  bool Seek(uint32_t document) {
    if (!Cover(document)) return false;
    index_ = LowerBound(document);
    return documents_[index_] == document;
  }

  // After a successful Seek.
  uint32_t Frequency() {
    LoadFrequencies();
    return frequencies_[index_];
  }
  // Positions in the document, ascending; good until the cursor moves to another block. Phrases ask for documents
  // that lie close together, so all of a block are decoded at once.
  std::span<const uint32_t> Positions() {
    if (position_block_ != block_) LoadPositions();
    return {positions_.data() + position_begins_[index_], position_begins_[index_ + 1] - position_begins_[index_]};
  }

  // The same for documents that lie far apart: decodes those of this one only.
  void DecodePositions(std::vector<uint32_t>* out) const { list_->DecodePositions(block_, index_, out); }

  // Frequency of a posting by its number in the list.
  uint32_t FrequencyOf(uint32_t posting) {
    const uint32_t block = posting / kBlockSize;
    if (block != frequency_block_) {
      if (block >= list_->block_count()) return 1;  // Only where damaged blocks overlap.
      list_->DecodeFrequencies(block, frequencies_);
      frequency_block_ = block;
    }
    return frequencies_[posting % kBlockSize];
  }

  // Sets the bits of the postings in the range, and flags for those in blocks that have to be decoded (their words are
  // noted in *flag_words; together they are the list's part of the window). *first_posting is the number of the first
  // posting in the range. Ranges must ascend from call to call.
  void AddBits(WindowRange range, WindowBits* bits, uint8_t* flags, uint64_t* flag_words, uint32_t* first_posting);

  // Calls choose(block) for the blocks that may have postings in the range, in order, and, where that is true,
  // visit(documents, frequencies, count) for these postings. Ranges must ascend from call to call.
  template <typename Choose, typename Visit>
  void ForEachChosenRun(WindowRange range, Choose&& choose, Visit&& visit) {
    uint32_t block = list_->FindBlock(run_block_, range.base);
    run_block_ = block;
    for (; block < list_->block_count(); ++block) {
      if (block > 0 && list_->last_document(block - 1) + 1 >= range.end) return;
      if (choose(block)) {
        if (block != block_ || length_ == 0) {
          Load(block);
          covered_from_ = documents_[0];
        }
        const uint32_t begin =
            documents_[0] >= range.base || documents_[length_ - 1] < range.base ? 0 : LowerBound(range.base);
        const uint32_t stop = documents_[length_ - 1] < range.end ? length_ : LowerBound(range.end);
        if (begin < stop && documents_[begin] >= range.base) {
          LoadFrequencies();
          visit(documents_ + begin, frequencies_ + begin, stop - begin);
        }
      }
      if (list_->last_document(block) >= range.end - 1) return;
    }
  }

  // Calls visit(documents, frequencies, count) for the postings in the range, a block at a time. Frequencies are only
  // good if asked for.
  template <bool kWithFrequencies, typename Visit>
  void ForEachRun(WindowRange range, Visit&& visit) {
    if (!Cover(range.base)) return;
    while (true) {
      const uint32_t begin = documents_[0] >= range.base ? 0 : LowerBound(range.base);
      const uint32_t stop = documents_[length_ - 1] < range.end ? length_ : LowerBound(range.end);
      if (begin < stop) {
        if constexpr (kWithFrequencies) LoadFrequencies();
        visit(documents_ + begin, frequencies_ + begin, stop - begin);
      }
      if (stop < length_ || block_ + 1 >= list_->block_count()) return;
      covered_from_ = documents_[length_ - 1] + 1;
      Load(block_ + 1);
    }
  }

 private:
  static constexpr uint32_t kNoBlock = 0xffffffffu;
  // A block has 128 documents, but for those that begin before the window or end behind it.
  static constexpr uint32_t kWindowBlocksMax = kWindowSize / kBlockSize + 2;

  float ComputeBound(uint32_t block, float weight, const float* saturation) const;
  void LoadPositions();

  void Load(uint32_t block) {
    list_->DecodeDocuments(block, documents_);
    length_ = list_->block_length(block);
    block_ = block;
  }

  void LoadFrequencies() {
    if (frequency_block_ == block_) return;
    list_->DecodeFrequencies(block_, frequencies_);
    frequency_block_ = block_;
  }

  // Makes the loaded block the first whose last document is >= document; false if there is none.
  bool Cover(uint32_t document) {
    if (document >= covered_from_ && length_ > 0 && document <= documents_[length_ - 1]) return true;
    return CoverSlowly(document);
  }

  bool CoverSlowly(uint32_t document) {
    uint32_t from = 0;
    if (length_ > 0 && document > documents_[length_ - 1]) {
      from = block_ + 1;
    } else if (document >= anchor_document_) {
      from = anchor_block_;
    }
    const uint32_t block = list_->FindBlock(from, document);
    if (block >= list_->block_count()) return false;
    if (block != block_ || length_ == 0) {
      Load(block);
      covered_from_ = document;
    } else {
      covered_from_ = std::min(covered_from_, document);
    }
    if (document / kWindowSize != anchor_document_ / kWindowSize || document < anchor_document_) {
      anchor_document_ = document;
      anchor_block_ = block;
    }
    return documents_[length_ - 1] >= document;  // False only where skip data and block disagree: damage.
  }

  // Index of the first document >= target in the loaded block, whose last one is.
  uint32_t LowerBound(uint32_t target) const {
    const uint32_t* base = documents_;
    uint32_t count = length_;
    while (count > 1) {
      const uint32_t half = count / 2;
      base += base[half - 1] < target ? half : 0;
      count -= half;
    }
    return static_cast<uint32_t>(base - documents_);
  }

  const PostingList* list_ = nullptr;
  uint32_t block_ = kNoBlock;
  uint32_t frequency_block_ = kNoBlock;
  uint32_t length_ = 0;
  uint32_t index_ = 0;
  uint32_t covered_from_ = 0;  // from here up to its last document, the loaded block is the one to look in
  uint32_t anchor_block_ = 0;
  uint32_t anchor_document_ = 0;
  uint32_t position_block_ = kNoBlock;
  uint32_t bits_block_ = 0;   // where AddBits goes on
  uint32_t run_block_ = 0;    // where ForEachChosenRun goes on
  uint32_t bound_from_ = 0;   // where NextDocumentBound goes on
  uint32_t bounds_begin_ = 0;  // the blocks that bounds_ are of
  uint32_t bounds_end_ = 0;
  // Vector code may read whole vectors from any posting on.
  alignas(64) uint32_t documents_[kBlockSize + kVectorPadding] = {};
  alignas(64) uint32_t frequencies_[kBlockSize + kVectorPadding] = {};
  float bounds_[kWindowBlocksMax];
  std::vector<uint32_t> positions_;        // of all documents of position_block_
  std::vector<uint32_t> position_begins_;  // by document of the block, and one more
};

}  // namespace gannet
