// The evaluator: a query's matches and scores in one segment, a window at a time.
//
// This is the seam behind which evaluation may change: consumers see windows, or spans of them. Unions whose hits are
// wanted by score go by spans where postings are few (SpanUnion, docs/decisions/0033); else by MAXSCORE in windows
// (ScoreUnionAbove), with a UnionMatcher where all matches are needed. Conjunctions go document by document
// (ConjunctionEvaluator) where a list is short, else by sets of bits (docs/decisions/0030).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../match/conjunction_evaluator.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "../union/span_union.h"
#include "../union/union_bounds.h"
#include "../union/union_matcher.h"
#include "../window/window.h"

namespace gannet {

// What of the windows is wanted.
struct EvaluationNeeds {
  bool scores = true;
  // Every match, also of those that a bar rules out: for counts and facets.
  bool all_matches = true;
};

class SegmentEvaluator {
 public:
  // `scratch` is for this evaluator alone until it is destroyed.
  SegmentEvaluator(const PreparedQuery* query, uint32_t segment, EvaluationNeeds needs, EvaluatorScratch* scratch);
  ~SegmentEvaluator();
  SegmentEvaluator(const SegmentEvaluator&) = delete;
  SegmentEvaluator& operator=(const SegmentEvaluator&) = delete;

  uint32_t window_count() const { return window_count_; }
  WindowRange RangeOf(uint32_t window) const {
    return {window * kWindowSize, std::min((window + 1) * kWindowSize, document_count_)};
  }
  // The query has words that no match may have.
  bool excludes() const { return !must_not_.empty(); }

  // Unions that are scored may be evaluated in spans, and each of these by a SpanUnion or window by window. Null where
  // windows are the only way. It is for matches before exclusion.
  SpanUnion* spans() { return spans_.get(); }
  // A conjunction that goes document by document; null where there is none. Its matches lack what the query excludes.
  ConjunctionEvaluator* conjunction() { return conjunction_.get(); }

  // How many documents match that are not deleted, where that can be had without windows: the query excludes nothing, and
  // no scores are needed. Instead of the other methods.
  std::optional<uint64_t> Count(const DeletionSet& deletions);

  // Takes what the query excludes from the matches.
  void Exclude(Window* window);

  // A bar rules out documents whose score, the bonus included, cannot reach it: their scores are some lower numbers,
  // which cannot either, and they may be missing among the matches where not all are needed. It must not fall from
  // call to call.

  // The next window >= from that may have matches; window_count() if none.
  uint32_t NextWindow(uint32_t from, float bar = 0);

  // Windows must ascend. The result is the evaluator's, good until the next call; the caller may take bits from
  // its matches. Matches do not consider deletions.
  Window* Evaluate(uint32_t window, float bar = 0);

 private:
  void EvaluateAll();
  void EvaluateUnion(float bar);
  void ScoreUnion();
  void MatchScored();
  void ScoreUnionAbove(float bar);
  void AddLesserGroups(size_t first, float bar);
  void MakePairs();
  void EvaluateConjunction();
  void FindBonusCandidates();

  const PreparedQuery* query_;
  EvaluatorScratch* scratch_;
  Window* window_;
  EvaluationNeeds needs_;
  uint32_t segment_;
  uint32_t document_count_;
  uint32_t window_count_;
  bool cannot_match_ = false;
  std::vector<GroupEvaluator> groups_;
  std::vector<GroupEvaluator*> must_;  // cheapest first
  std::vector<GroupEvaluator*> must_not_;
  std::vector<GroupEvaluator*> scoring_;  // kMust and kShould in order of scoring
  std::vector<std::pair<const GroupEvaluator*, const GroupEvaluator*>> pairs_;  // that documents of the segment may have
  uint64_t score_words_ = 0;              // touched

  std::unique_ptr<UnionBounds> bounds_;  // unions that are scored
  std::unique_ptr<SpanUnion> spans_;
  std::unique_ptr<ConjunctionEvaluator> conjunction_;  // null where windows are the better way
  std::unique_ptr<UnionMatcher> matcher_;  // where all matches are needed
  bool is_pruned_ = false;                 // in the last window, some documents were not scored
  uint32_t unbounded_windows_ = 0;         // so many windows to come are scored whole, whatever their bounds
  bool is_whole_ = false;                  // in the last window, the lesser groups were scored for all documents
  size_t essential_ = 0;  // documents that match none of the groups before this one are below the last bar
};

}  // namespace gannet
