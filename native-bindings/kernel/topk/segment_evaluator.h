// The evaluator: a query's matches and scores in one segment, a window at a time.
//
// This is the seam behind which evaluation may change (block-max MAXSCORE, score-first intersections): consumers
// see only windows.
#pragma once

#include <cstdint>
#include <vector>

#include "group_evaluator.h"
#include "prepared_query.h"
#include "window.h"

namespace gannet {

class SegmentEvaluator {
 public:
  // `scratch` is for this evaluator alone until it is destroyed. Without `with_scores` only matches are computed.
  SegmentEvaluator(const PreparedQuery* query, uint32_t segment, bool with_scores, EvaluatorScratch* scratch);
  ~SegmentEvaluator();
  SegmentEvaluator(const SegmentEvaluator&) = delete;
  SegmentEvaluator& operator=(const SegmentEvaluator&) = delete;

  uint32_t window_count() const { return window_count_; }

  // The next window >= from that may have matches; window_count() if none.
  uint32_t NextWindow(uint32_t from);

  // Windows must ascend. The result is the evaluator's, good until the next call; the caller may take bits from
  // its matches. Matches do not consider deletions.
  Window* Evaluate(uint32_t window);

 private:
  void EvaluateAll();
  void EvaluateUnion();
  void MatchUnion();
  void EvaluateConjunction();
  void Exclude();

  const PreparedQuery* query_;
  EvaluatorScratch* scratch_;
  Window* window_;
  bool with_scores_;
  uint32_t document_count_;
  uint32_t window_count_;
  bool cannot_match_ = false;
  std::vector<GroupEvaluator> groups_;
  std::vector<GroupEvaluator*> must_;  // cheapest first
  std::vector<GroupEvaluator*> must_not_;
  std::vector<GroupEvaluator*> scoring_;  // kMust and kShould in order of scoring
  uint64_t score_words_ = 0;              // touched
};

}  // namespace gannet
