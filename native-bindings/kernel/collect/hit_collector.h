// Keeps the best hits of a search in the order that the plan asks for.
//
// Hits gather in a buffer of about twice the number wanted; when it is full, the better half stays (nth_element, so a
// page far down costs no more per match than the first) and its worst becomes the bar for what enters.
//
// With a proximity bonus, windows bring the scores without it. In the order of scores, what may be among the best with
// it is kept, and gets its bonus when the better half is chosen; in another order, hits get theirs when they enter.
//
// In the order of a column, what the worst of the best says of it is a filter for the windows that follow, and scores only break ties: hits
// enter without, and those that are left get theirs together (docs/decisions/0174-columns-by-blocks.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "../filter/column_filter.h"
#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../window/span_scratch.h"
#include "../window/window.h"

namespace gannet {

struct Hit {
  float score = 0;
  uint32_t record_number = 0;
  uint32_t segment = 0;  // index in the generation
  uint32_t document = 0;
  bool has_bonus = false;  // in its score
  float bonus_bound = 0;   // the most that it is, where it is not
  bool is_late = false;    // its score is not known yet
};

class HitCollector {
 public:
  // Gives hits of windows that were evaluated without scores theirs, the bonus included. They ascend by segment and document.
  using LateScores = std::function<void(std::span<Hit* const>)>;

  // Error(kInvalidArgument) where a sort key names a column that the segments do not have or cannot be sorted by.
  // `proximity` outlives the collector; null where scores come whole.
  HitCollector(const Generation& generation, const QueryPlan& plan, ProximityScorer* proximity, LateScores late_scores);

  // Every match's score is needed to order the hits. Otherwise, scores only break ties and are asked for late.
  bool needs_every_score() const { return needs_every_score_; }
  bool wants_hits() const { return kept_max_ > 0; }
  // Hits are wanted in the order of scores, and CollectScored may be used.
  bool is_by_score() const { return order_ == Order::kScore && wants_hits(); }

  // Documents whose score, the bonus included, is below this cannot be among the hits any more; 0 if any may.
  const float& bar() const { return bar_score_; }
  // How many hits are kept.
  size_t wanted() const { return kept_max_; }
  // So many documents, some of them yet to come, are known to have a score of at least this.
  void SeedBar(float score) { bar_score_ = std::max(bar_score_, score); }

  void BeginSegment(uint32_t segment);
  // `scores` may be null where they are not needed of every match: those of hits come late, and not at all in storage order.
  void Collect(const Window& window, const float* scores);
  // The same for documents that are known by themselves. Those that the bar rules out may be missing.
  void CollectScored(std::span<const ScoredDocument> documents);

  // The hits of the page, in order.
  std::vector<Hit> Finish();

 private:
  enum class Order : uint8_t { kScore, kRecordNumber, kKeys };

  // A hit by its index in hits_, and its place in the order of scores: the lower, the better.
  struct RankedHit {
    uint64_t rank;
    uint32_t index;
  };
  static bool HasLowerRank(const RankedHit& a, const RankedHit& b) { return a.rank < b.rank; }
  std::vector<RankedHit> RankHits() const;
  bool ComesFirst(const RankedHit& a, const RankedHit& b) const;
  // The hits of the page, in order.
  template <typename First>
  std::vector<Hit> Page(std::vector<RankedHit>* hits, First&& comes_first) const;

  // Hits enter without their bonus.
  bool has_late_bonuses() const { return order_ == Order::kScore && proximity_ != nullptr; }

  void CollectByScore(const Window& window, const float* scores);
  void AddThoseWithBonus(const Window& window, const float* scores, uint64_t* reaching) const;
  void AddByScore(const Hit& hit);
  void CollectByRecordNumber(const Window& window, const float* scores);
  void CollectByKeys(const Window& window, const float* scores);
  void FilterByBar();
  void ReadKeys(uint32_t document, double* values) const;
  double ReadColumn(const SortKey& key, const Column* column, uint32_t document) const;
  Hit MakeHit(uint32_t document, float score) const;

  // < 0: a comes first.
  int CompareKey(size_t key, const Hit& a, double a_value, const Hit& b, double b_value) const;
  // Only by what is known without scores; 0 where they would decide or nothing differs.
  int CompareWithoutScores(const Hit& a, const double* a_values, const Hit& b, const double* b_values) const;
  bool ComesFirst(const Hit& a, const double* a_values, const Hit& b, const double* b_values) const;
  bool EntersAfterBar(const Hit& hit, const double* values) const;
  // The same by its score without a bonus, whatever the bonus.
  bool MayCatchUp(const Hit& hit) const { return hit.score + hit.bonus_bound >= bar_score_; }
  void Add(const Hit& hit, const double* values);
  void RaiseBar(float score);
  void KeepBest();
  void KeepBestByKeys();
  void Keep(std::span<const RankedHit> order);
  void TakeBar(uint32_t hit);
  void ScoreLate();
  // Bonuses of all hits that may be among those wanted. The others are removed.
  void AddBonuses();
  // Hits that stay below `bar` may have less.
  void AddBonuses(float bar, std::span<uint32_t> indexes);

  const Generation& generation_;
  const QueryPlan& plan_;
  Order order_;
  ProximityScorer* proximity_;
  bool needs_every_score_ = false;
  float unscored_ = 0;  // what a hit scores in storage order, where nobody asked for a score
  size_t kept_max_ = 0;
  size_t buffer_max_ = 0;
  size_t stride_ = 0;  // values per hit
  std::vector<Hit> hits_;
  std::vector<double> values_;  // stride_ per hit; NaN = missing; strings as ordinals of the hit's segment
  bool has_bar_ = false;
  Hit bar_;
  std::vector<double> bar_values_;
  bool scores_come_late_ = false;  // of some hit
  LateScores late_scores_;
  float bar_score_ = 0;             // in the order of scores
  std::vector<float> best_scores_;  // a heap, the least first: the kept_max_ best so far, of which a bar follows

  // Of the segment at hand.
  uint32_t segment_ = 0;
  const uint32_t* record_numbers_ = nullptr;
  std::vector<const Column*> columns_;  // by sort key; null where it needs none or has none
  std::optional<ColumnFilter> bar_filter_;  // what the bar's first key leaves
};

}  // namespace gannet
