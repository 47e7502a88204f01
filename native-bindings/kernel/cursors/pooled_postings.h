// The postings of a group's rarest alternatives in a segment, pooled in the order of windows.
//
// A word's group has a dozen alternatives or more, most of them rare: forms of a stem, other spellings. If each were a
// list of its own, every window would visit it for a posting or two. Pooled, they are one list with known windows and
// bounds. (docs/decisions/0032)
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

  // Returns true if a list with this number of postings in a segment of this size is better pooled than walked.
  static bool IsRare(const PostingList& list, uint32_t document_count);

  // `norms` is by document, `saturation` by norm code.
  PooledPostings(std::span<const Source> sources, uint32_t document_count, const uint8_t* norms,
                 const float* saturation);

  // Ranges must begin with a window.

  // Returns the most to which w * f / (w * f + K) of the sources can add up for a document in the range.
  float Bound(WindowRange range) const;
  // Adds the weighted frequencies in a window to `sums`.
  void Accumulate(WindowRange range, float* sums, TouchedOffsets* touched) const;
  // Sets the bits (of document - range.base) of the documents in the range, which is at most 64 windows long. Returns a
  // mask of the windows that have any.
  uint64_t Mark(WindowRange range, uint64_t* bits) const;
  // Returns a lower bound of the next document >= target; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target) const;

 private:
  std::vector<uint32_t> begins_;  // by window, and one more: index of its first posting
  std::vector<float> bounds_;     // by window
  std::vector<uint16_t> offsets_;  // of the documents in the window
  std::vector<float> frequencies_;  // times the weight of the source
};

}  // namespace gannet
