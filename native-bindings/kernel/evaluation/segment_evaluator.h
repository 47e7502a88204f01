// The evaluator: a query's matches and scores in one segment, a window at a time.
//
// This is the seam behind which evaluation may change: consumers see windows, or spans of them, or documents. Which way is gone is
// the strategy's (strategy.h; docs/decisions/0030 and 0033).
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
#include "../union/window_union.h"
#include "../window/window.h"
#include "strategy.h"

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

  Strategy strategy() const { return strategy_; }

  // The most that a document scores without a bonus, rounding included.
  float Bound() const;

  // Where the strategy is kUnionBySpan: each span may be evaluated by this or window by window. It is for matches before exclusion.
  SpanUnion& spans() { return *spans_; }
  // Where the strategy is kByDocument. Its matches lack what the query excludes.
  ConjunctionEvaluator& conjunction() { return *conjunction_; }

  // Whether the number of matches can be had without windows: the query excludes nothing, and no scores are needed.
  bool CanCount() const { return !needs_.scores && !excludes() && strategy_ != Strategy::kIntersection; }
  // Where it can: how many documents match that are not deleted. Instead of the methods that follow.
  uint64_t Count(const DeletionSet& deletions);

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
  Strategy ChooseStrategy() const;
  void PrepareStrategy();
  uint32_t WindowOf(uint32_t document) const { return document == kNoDocument ? window_count_ : document / kWindowSize; }
  uint32_t NextInAll(uint32_t target);
  void EvaluateAll();
  void EvaluateIntersection();
  void MakePairs();
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

  Strategy strategy_ = Strategy::kNothing;
  std::unique_ptr<ConjunctionEvaluator> conjunction_;  // kByDocument
  std::optional<UnionMatcher> matcher_;                // kUnionOfMatches
  std::optional<UnionBounds> bounds_;                  // kUnionByWindow, kUnionBySpan
  std::optional<WindowUnion> windows_;                 // likewise
  std::unique_ptr<SpanUnion> spans_;                   // kUnionBySpan
};

}  // namespace gannet
