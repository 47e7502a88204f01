// Scores a union by its postings, in spans of many windows.
//
// A word of a search is a group of a dozen terms, most of them rare. In a window (4,096 documents) each has a few
// postings, and entering its list costs more than they do. So if postings are few, all postings of a span are gathered,
// list by list (by SlotFinder, which leaves out the many documents that cannot reach the bar). Their documents, as a
// bit set, are numbered, and everything that follows is done for these *slots* in sequence: frequencies, scores, and
// the choice of possible hits. The bits and their ranks stay in the first-level cache however large the span is. Dense
// unions are evaluated by window (segment_evaluator.h).
//
// The essential groups of MAXSCORE are gathered; the others are looked up for the slots that may still reach the bar.
// Every score that reaches it is the sum of all contributions in the order of scoring, to the bit.
// (docs/decisions/0033, 0043) If all groups are single terms and there is a bar, a UnionSieve evaluates the span
// instead.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../cursors/document_lookup.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "../window/span_scratch.h"
#include "../window/window.h"
#include "bar_seed.h"
#include "slot_finder.h"
#include "union_bounds.h"
#include "union_sieve.h"

namespace gannet {

class SpanUnion {
 public:
  static constexpr uint32_t kWindowsMax = 64;
  static constexpr uint32_t kGroupsMax = 32;

  // `groups` are in the order of scoring, at most kGroupsMax. All arguments must outlive the object.
  SpanUnion(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
            const UnionBounds* bounds, SpanScratch* scratch);

  // Returns a score that `wanted` documents reach (bar_seed.h).
  float SeedBar(size_t wanted) const { return gannet::SeedBar(*query_, segment_, groups_, wanted); }
  float SeedBar(size_t wanted, const OwnerOf& owner_of) const { return gannet::SeedBar(*query_, segment_, groups_, wanted, owner_of); }

  // Returns the span that begins with this window. The first spans are short, so that there is a bar soon.
  WindowRange Range(uint32_t first_window) const;

  // Bars must not fall from call to call, and ranges must ascend.

  // Returns true if postings are so few that this is the better way. To be called before each span.
  bool IsSparse(float bar);

  // Begins a span. With `needs_matches`, finds the documents that match: all of them with `all_matches`, else at least
  // those that may reach the bar that was given to IsSparse. The methods below use them.
  void Match(WindowRange range, bool needs_matches, bool all_matches);
  uint32_t CountMatches() const;
  // Load and store the matches of a window of the span. Matches that were cleared before storing are removed.
  void LoadMatches(Window* window) const;
  void StoreMatches(const Window& window);
  // Removes documents from the matches of a window: kWindowWords words, one bit per document.
  void RemoveMatches(WindowRange window, const uint64_t* documents);

  // Scores the matches, without the removed ones if the span has matches. Returns all that may reach the bar, in the
  // order of documents; valid until the next span.
  std::span<const ScoredDocument> Score(float bar);

 private:
  // A pair of groups that documents of the segment may have.
  struct Pair {
    size_t first;   // indexes into groups_, first < second
    size_t second;
    float scale;    // scale * the product of the frequencies bounds the product of the numbers of occurrences
    float weight;
    float bound;    // of any document

    float Bound(float first_frequency, float second_frequency, float saturation) const;
  };

  static float LeastWeight(const PreparedGroup& group);
  float LeastUnits() const;
  uint32_t WordCount() const { return (range_.end - range_.base + 63) / 64; }
  // Returns the frequencies of a group, by slot.
  float* FrequenciesOf(size_t group) const { return scratch_.frequencies.data() + group * (slot_count_ + 1); }
  void MarkMatches(size_t end);
  uint32_t NumberSlots();
  Slots RankedSlots() const { return {scratch_.slot_bits.data(), scratch_.ranks.data(), slot_count_}; }
  void SumGathered(size_t group, uint32_t begin, uint32_t end);
  void ScoreGroup(size_t group);
  void ScoreLesserGroupForAll(size_t group);
  void ScoreLesserGroup(size_t group);
  float Least(size_t scored_groups, float bar) const;
  size_t CountAbove(size_t scored_groups, float bar) const;
  void ChooseCandidates(size_t scored_groups, float bar);
  void KeepCandidates(size_t scored_groups, float bar);
  void AddBonusBounds(size_t scored_groups, float* scores) const;
  float BonusBound(uint32_t slot, size_t scored_groups) const;
  bool IsWhole(uint32_t slot) const;

  const PreparedQuery* query_;
  uint32_t segment_;
  const uint8_t* norms_;
  uint32_t document_count_;
  std::span<GroupEvaluator* const> groups_;
  const UnionBounds* bounds_;
  SpanScratch& scratch_;
  SlotFinder finder_;
  std::vector<Pair> pairs_;

  // State of the span.
  WindowRange range_{0, 0};
  size_t essential_;
  float bar_ = 0;  // that was given to IsSparse
  std::vector<uint32_t> whole_slots_;    // slots of documents with a field that is the query, ascending
  uint32_t slot_count_ = 0;
  bool has_matches_ = false;

  std::unique_ptr<UnionSieve> sieve_;  // if the query allows one
  bool is_sieved_ = false;             // the sieve evaluates the span
};

}  // namespace gannet
