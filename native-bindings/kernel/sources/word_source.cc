#include "word_source.h"

#include <algorithm>

namespace gannet {
namespace {

class WordsOfSegment : public SegmentSource {
 public:
  WordsOfSegment(const PreparedQuery* query, uint32_t segment, bool all_matches, ProximityScorer* proximity,
                 EvaluatorScratch* scratch)
      : finds_(query->has_scoring_groups && query->MayMatch(segment)),
        segment_(segment),
        proximity_(*proximity),
        evaluator_(query, segment, {.scores = true, .all_matches = all_matches}, scratch),
        nothing_(&scratch->window) {}

  float Bound() const override { return finds_ ? evaluator_.Bound() + proximity_.bound() : 0; }

  uint32_t NextWindow(uint32_t from, float least) override {
    return finds_ ? evaluator_.NextWindow(from, least) : evaluator_.window_count();
  }

  Window* Find(WindowRange range, float least) override {
    if (!finds_) {
      nothing_->matches.Clear();
      return nothing_;
    }
    Window* window = evaluator_.Evaluate(range.base / kWindowSize, least);
    if (!proximity_.empty()) AddBonuses(least, window);
    return window;
  }

  void Exclude(Window* window) override { evaluator_.Exclude(window); }

 private:
  // Adds the bonuses of the documents that may reach `least`.
  void AddBonuses(float least, Window* window) {
    ForEachBit(window->matches, [&](uint32_t offset) {
      if (!window->bonus_candidates.Contains(offset)) return;
      float& score = window->scores[offset];
      const uint32_t document = window->range.base + offset;
      if (score + proximity_.BoundOf(segment_, document) < least) return;
      score += proximity_.Bonus(segment_, document, least - score);
    });
  }

  bool finds_;
  uint32_t segment_;
  ProximityScorer& proximity_;
  SegmentEvaluator evaluator_;
  Window* nothing_;
};

}  // namespace

std::unique_ptr<SegmentSource> WordSource::Open(uint32_t segment, bool all_matches) {
  return std::make_unique<WordsOfSegment>(query_, segment, all_matches, proximity_, scratch_);
}

SourceScore WordSource::ScoreOf(uint32_t segment, uint32_t document) {
  if (!query_->has_scoring_groups) return {};
  return {scorer_.Score(segment, document, document + 1).front()};
}

void WordSource::ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) {
  if (query_->has_scoring_groups) {
    std::ranges::copy(scorer_.Score(segment, documents), scores);
  } else {
    std::fill_n(scores, documents.size(), 0.0f);
  }
}

void WordSource::ScoresButRests(uint32_t segment, std::span<const uint32_t> documents, float* scores, float* rests) {
  std::fill_n(scores, documents.size(), 0.0f);
  std::fill_n(rests, documents.size(), 0.0f);
  if (!query_->has_scoring_groups) return;
  std::ranges::copy(scorer_.ScoreWithoutBonus(segment, documents), scores);
  if (proximity_->empty()) return;
  for (size_t i = 0; i < documents.size(); ++i) {
    if (scores[i] > 0) rests[i] = proximity_->BoundOf(segment, documents[i]);
  }
}

}  // namespace gannet
