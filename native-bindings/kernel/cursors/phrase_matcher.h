// Matches phrases in two phases: first the documents that have all terms, then positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../segment/segment.h"
#include "posting_cursor.h"

namespace gannet {

class PhraseMatcher {
 public:
  // `cursors[slots[i]]` walks the list of the phrase's i-th term; repeated words share a slot. The cursors belong to
  // the caller and must outlive the matcher.
  PhraseMatcher(const Segment* segment, std::vector<uint32_t> slots, std::span<PostingCursor> cursors);

  // The cursors by slot.
  std::span<PostingCursor> cursors() const { return cursors_; }

  // Number of documents of the rarest term.
  uint32_t cost() const { return cursors_[rarest_].document_frequency(); }

  // Return a lower bound of the next match. NextDocumentBound decodes nothing.
  uint32_t NextDocument(uint32_t target);
  uint32_t NextDocumentBound(uint32_t target);

  // As PostingCursor::Bound, for the phrase: no document has it more often than any of its words.
  float Bound(WindowRange range, float weight, const float* saturation);

  // Returns the sum, over the phrase's occurrences, of the weight units of the field of each; 0 if it does not occur.
  // With `any`, returns 1 as soon as one occurrence is found.
  uint32_t Frequency(uint32_t document, bool any);
  // The same for a document that has all words, with its postings by slot.
  uint32_t FrequencyAt(uint32_t document, std::span<const uint32_t> postings, bool any);

 private:
  uint32_t WeighOccurrences(uint32_t document) const;

  const Segment* segment_;
  std::vector<uint32_t> slots_;
  std::span<PostingCursor> cursors_;
  uint32_t rarest_ = 0;
  std::vector<uint32_t> postings_;                    // by slot
  std::vector<std::span<const uint32_t>> positions_;  // by slot
  std::vector<uint32_t> starts_;                      // candidates for the position of the first term
  uint32_t uniform_weight_ = 0;                       // if all fields have the same weight; else 0
};

}  // namespace gannet
