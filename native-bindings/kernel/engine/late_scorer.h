// Computes the scores of hits that are sorted by a column. Their windows were evaluated without scores. At the end only
// a few hits remain, which are scored one by one; if many hits tie on the column, their windows are evaluated a second
// time.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "../bonus/proximity_scorer.h"
#include "../collect/hit_collector.h"
#include "../common/stop.h"
#include "../evaluation/segment_evaluator.h"
#include "../sources/word_source.h"

namespace gannet {

class LateScorer {
 public:
  // All arguments must outlive the object.
  LateScorer(const PreparedQuery* query, ProximityScorer* proximity, WordSource* words, EvaluatorScratch* scratch)
      : query_(*query), proximity_(*proximity), words_(*words), scratch_(*scratch) {}

  // Sets the scores of `hits`, which must ascend by segment and document and come after those of the previous call.
  void Score(std::span<Hit* const> hits) {
    for (size_t begin = 0, end = 0; begin < hits.size(); begin = end) {
      StopIfAsked();
      const uint32_t segment = hits[begin]->segment;
      const uint32_t window = hits[begin]->document / kWindowSize;
      while (end < hits.size() && hits[end]->segment == segment && hits[end]->document / kWindowSize == window) ++end;
      ScoreWindow(segment, window, hits.subspan(begin, end - begin));
    }
  }

 private:
  // If a window has more hits than this, the whole window is evaluated.
  static constexpr size_t kOneByOneMax = 8;

  void ScoreWindow(uint32_t segment, uint32_t window, std::span<Hit* const> hits) {
    if (query_.has_scoring_groups && hits.size() <= kOneByOneMax) {
      for (Hit* hit : hits) hit->score = words_.ScoreOf(segment, hit->document).score;
      return;
    }
    if (!evaluator_ || segment != segment_) {
      evaluator_.reset();  // Two evaluators would share the scratch.
      evaluator_ = std::make_unique<SegmentEvaluator>(&query_, segment, EvaluationNeeds{}, &scratch_);
      segment_ = segment;
    }
    const float* scores = evaluator_->Evaluate(window)->scores;
    for (Hit* hit : hits) {
      hit->score = scores[hit->document % kWindowSize];
      if (!proximity_.empty()) hit->score += proximity_.Bonus(segment, hit->document);
    }
  }

  const PreparedQuery& query_;
  ProximityScorer& proximity_;
  WordSource& words_;
  EvaluatorScratch& scratch_;
  std::unique_ptr<SegmentEvaluator> evaluator_;
  uint32_t segment_ = 0;  // of evaluator_
};

}  // namespace gannet
