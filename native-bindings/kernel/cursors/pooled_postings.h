// The postings of a group's rarest alternatives in a segment, pooled in the order of windows.
//
// A word's group has a dozen alternatives and more, most of them rare: forms of a stem, other spellings. Each as a list of
// its own would be visited in every window for a posting or two; pooled, they are one list, whose windows and their
// bounds are known. (docs/decisions/0032)
//
// Within a window, postings are in the order of the alternatives, so that frequencies are summed in that order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../postings/posting_list.h"
#include "../window/window.h"

namespace gannet {

class PooledPostings {
 public:
  struct Source {
    const PostingList* list;
    float weight;
  };

  // A list with no more postings in a segment of so many documents is better pooled than walked.
  static bool IsRare(const PostingList& list, uint32_t document_count);

  // `norms` by document, `saturation` by norm code.
  PooledPostings(std::span<const Source> sources, uint32_t document_count, const uint8_t* norms,
                 const float* saturation);

  // Ranges begin with a window.

  // The most that the sources' w * f / (w * f + K) can add up to for a document in the range.
  float Bound(WindowRange range) const;
  // Adds the weighted frequencies in a window to `sums`.
  void Accumulate(WindowRange range, float* sums, TouchedOffsets* touched) const;
  // Sets the bits (of document - range.base) of the documents in the range, which is at most 64 windows long. Returns a bit
  // per window that has any.
  uint64_t Mark(WindowRange range, uint64_t* bits) const;
  // A lower bound of the next document >= target; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target) const;

 private:
  std::vector<uint32_t> begins_;  // by window: of its postings; and one more
  std::vector<float> bounds_;     // by window
  std::vector<uint16_t> offsets_;  // in the window
  std::vector<float> frequencies_;  // times the weight of their source
};

}  // namespace gannet
