// The words of the fields as a source beside others: finds what SegmentEvaluator finds, with the bonus.
//
// Thread-safety: one thread.
#pragma once

#include <memory>
#include <string>

#include "../bonus/proximity_scorer.h"
#include "../evaluation/segment_evaluator.h"
#include "../query/prepared_query.h"
#include "source.h"
#include "word_scorer.h"

namespace gannet {

class WordSource : public Source {
 public:
  // A query without scoring words finds nothing, but still excludes. All arguments must outlive the object; `scratch`
  // can serve only one segment at a time.
  WordSource(const PreparedQuery* query, ProximityScorer* proximity, EvaluatorScratch* scratch)
      : query_(query), proximity_(proximity), scratch_(scratch), scorer_(query, proximity) {}

  ScoreKind kind() const override { return ScoreKind::kWords; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) override;
  // The rest of a score is its bonus.
  void ScoresButRests(uint32_t segment, std::span<const uint32_t> documents, float* scores, float* rests) override;
  float RestOf(uint32_t segment, uint32_t document) override { return proximity_->Bonus(segment, document); }

 private:
  const PreparedQuery* query_;
  ProximityScorer* proximity_;
  EvaluatorScratch* scratch_;
  WordScorer scorer_;
};

}  // namespace gannet
