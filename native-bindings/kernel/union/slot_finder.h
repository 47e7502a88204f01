// Finds the documents of a span that may reach the bar in a union of groups, and gathers the postings of the essential
// groups for them: these documents get slots (span_union.h).
//
// Few documents that have any of the words have two of them, and few of the others have their word so often that it
// reaches the bar alone. So bit sets first show which documents have, or may have, more than one posting. Only for the
// other documents is a posting compared with the bar: its frequency with the one that the document's length requires.
// In nearly all blocks no posting reaches it; from these blocks, frequencies are read only for documents with several
// postings. (docs/decisions/0043, 0356)
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "../window/selection.h"
#include "../window/span_scratch.h"
#include "../window/window.h"
#include "union_bounds.h"

namespace gannet {

class SlotFinder {
 public:
  // A group's part of the gathered postings.
  struct Part {
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  // `groups` are in the order of scoring. All arguments must outlive the object.
  SlotFinder(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
             const UnionBounds* bounds, SpanScratch* scratch);

  // Begins a span: its slots are all documents that any of the first `essential` groups has, or that have a bonus by
  // themselves. A document that has none of these groups does not reach the bar (0: none). With `all_matches`,
  // AddMatches may follow. Ranges must ascend.
  void Begin(WindowRange range, size_t essential, float bar, bool all_matches);
  // Adds the documents of the other groups, and those with slots, to `matches`.
  void AddMatches(uint64_t* matches);
  // Removes the slots and gathered postings of documents that cannot reach the bar. Slots that others removed since
  // Begin stay removed.
  void LeaveOutLone();

  // Returns what was gathered from an essential group, in the order of its alternatives; it may include documents
  // without a slot.
  Part Gathered(size_t group) const { return parts_[group]; }

 private:
  uint32_t WordCount() const { return (range_.end - range_.base + 63) / 64; }
  size_t MarkedEnd(bool all_matches, float bar) const;
  void GatherGroup(size_t group);
  void MarkWholeFields();
  uint32_t KeepPostings(size_t group, uint32_t to);
  uint32_t KeepReaching(Part from, const FrequencyBar& bar, uint32_t to);
  uint32_t KeepShared(const BareRun& run, uint32_t to);
  FrequencyBar LeastFrequencies(float weight) const;

  const PreparedQuery* query_;
  uint32_t segment_;
  const uint8_t* norms_;
  std::span<GroupEvaluator* const> groups_;
  const UnionBounds* bounds_;
  SpanScratch& scratch_;

  // State of the span.
  WindowRange range_{0, 0};
  size_t essential_ = 0;
  size_t marked_end_ = 0;      // the lesser groups before this one are in the lesser bits
  float least_ = 0;            // the least that a document's only known posting must add to its score; <= 0: anything
  std::vector<Part> parts_;    // by essential group
  size_t next_bare_ = 0;       // first of the gathered runs that has not been kept yet
};

}  // namespace gannet
