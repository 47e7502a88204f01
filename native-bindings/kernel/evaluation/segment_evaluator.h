// Finds the matches and scores of a query in one segment, one window at a time.
//
// The way of evaluation may change behind this interface: consumers see windows, or spans of them, or documents. The
// strategy decides which way is used (strategy.h; docs/decisions/0030 and 0033).
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

// What is needed of the windows.
struct EvaluationNeeds {
  bool scores = true;
  // True if matches are needed even if a bar rules them out: for counts and facets.
  bool all_matches = true;
};

class SegmentEvaluator {
 public:
  // `scratch` belongs to this evaluator until it is destroyed.
  SegmentEvaluator(const PreparedQuery* query, uint32_t segment, EvaluationNeeds needs, EvaluatorScratch* scratch);
  ~SegmentEvaluator();
  SegmentEvaluator(const SegmentEvaluator&) = delete;
  SegmentEvaluator& operator=(const SegmentEvaluator&) = delete;

  uint32_t window_count() const { return window_count_; }
  WindowRange RangeOf(uint32_t window) const {
    return {window * kWindowSize, std::min((window + 1) * kWindowSize, document_count_)};
  }
  // True if the query has words that no match may have.
  bool excludes() const { return !must_not_.empty(); }

  Strategy strategy() const { return strategy_; }

  // Returns the most that a document scores without a bonus, rounding included.
  float Bound() const;

  // For kUnionBySpan: each span may be evaluated by this or window by window. Its matches still have what the query
  // excludes.
  SpanUnion& spans() { return *spans_; }
  // For kByDocument. Its matches do not have what the query excludes.
  ConjunctionEvaluator& conjunction() { return *conjunction_; }

  // True if matches can be counted without windows: the query excludes nothing, and no scores are needed.
  bool CanCount() const { return !needs_.scores && !excludes() && strategy_ != Strategy::kIntersection; }
  // If CanCount(): returns the number of matching documents that are not deleted. Must not be mixed with the methods
  // below.
  uint64_t Count(const DeletionSet& deletions);

  // Removes what the query excludes from the matches.
  void Exclude(Window* window);

  // A bar rules out documents whose score, the bonus included, cannot reach it. Their scores are then some lower
  // numbers, which cannot reach it either, and they may be missing from the matches unless all are needed. The bar must
  // not fall from call to call.

  // Returns the next window >= `from` that may have matches; window_count() if there is none.
  uint32_t NextWindow(uint32_t from, float bar = 0);

  // Evaluates a window; windows must ascend. The result belongs to the evaluator and is valid until the next call; the
  // caller may clear bits of its matches. Deletions are not considered.
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
  std::vector<GroupEvaluator*> scoring_;  // kMust and kShould, in the order of scoring
  // pairs that documents of the segment may have
  std::vector<std::pair<const GroupEvaluator*, const GroupEvaluator*>> pairs_;
  uint64_t score_words_ = 0;              // mask of the words of scores that were written

  Strategy strategy_ = Strategy::kNothing;
  std::unique_ptr<ConjunctionEvaluator> conjunction_;  // kByDocument
  std::optional<UnionMatcher> matcher_;                // kUnionOfMatches
  std::optional<UnionBounds> bounds_;                  // kUnionByWindow, kUnionBySpan
  std::optional<WindowUnion> windows_;                 // for the same strategies
  std::unique_ptr<SpanUnion> spans_;                   // kUnionBySpan
};

}  // namespace gannet
