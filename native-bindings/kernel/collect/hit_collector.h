// Keeps the best hits of a search, in the order that the plan asks for.
//
// Hits are gathered in a buffer of about twice the wanted number. When it is full, the better half is kept
// (nth_element, so a page far down costs no more per match than the first), and the worst of it becomes the bar that
// new hits must reach.
//
// With a proximity bonus, windows have scores without it. If hits are sorted by score, those that may be among the best
// with the bonus are kept, and get it when the better half is chosen. In another order, hits get their bonus when they
// enter.
//
// If hits are sorted by a column, the column value of the bar becomes a filter for the following windows, and scores
// only break ties: hits enter without a score, and the remaining ones get theirs together
// (docs/decisions/0174-columns-by-blocks.md).
//
// If hits are distinct by a column, those that remain when the buffer is full are the best of each value: the bar is
// then the last wanted one of these. A value whose best hit so far is below the bar may come back with a better one;
// the hit that was dropped could not have been among the wanted ones. Scores, with their bonus, must be known for this,
// so hits get their bonus when they enter, and late scores come before any hit is dropped.
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
#include "distinct_hits.h"
#include "hit.h"

namespace gannet {

class HitCollector {
 public:
  // Sets the scores, with the bonus, of hits of windows that were evaluated without scores. Hits ascend by segment and
  // document.
  using LateScores = std::function<void(std::span<Hit* const>)>;

  // Throws Error(kInvalidArgument) if a sort key names a column that the segments do not have or that cannot be sorted
  // by. `proximity` must outlive the collector; null if scores already have the bonus.
  HitCollector(const Generation& generation, const QueryPlan& plan, ProximityScorer* proximity, LateScores late_scores);

  // True if every match's score is needed to order the hits. Otherwise scores only break ties and are asked for late.
  bool needs_every_score() const { return needs_every_score_; }
  bool wants_hits() const { return kept_max_ > 0; }
  // True if hits are wanted in the order of scores; CollectScored may then be used.
  bool is_by_score() const { return order_ == Order::kScore && wants_hits(); }

  // Documents whose score, the bonus included, is below this can no longer be among the hits; 0 if any may be.
  const float& bar() const { return bar_score_; }
  // Number of hits that are kept.
  size_t wanted() const { return kept_max_; }
  // To be called if at least wanted() documents, some possibly not collected yet, are known to have this score or more.
  // Ignored if hits are distinct, because such documents may share a value.
  void SeedBar(float score) {
    if (!distinct_) bar_score_ = std::max(bar_score_, score);
  }

  void BeginSegment(uint32_t segment);
  // `scores` may be null if they are not needed of every match: hits then get scores late, or none in storage order.
  void Collect(const Window& window, const float* scores);
  // The same for single documents. Those that the bar rules out may be missing.
  void CollectScored(std::span<const ScoredDocument> documents);

  // Returns the hits of the page, in order.
  std::vector<Hit> Finish();

 private:
  enum class Order : uint8_t { kScore, kRecordNumber, kKeys };

  static bool HasLowerRank(const RankedHit& a, const RankedHit& b) { return a.rank < b.rank; }
  std::vector<RankedHit> RankHits() const;
  bool ComesFirst(const RankedHit& a, const RankedHit& b) const;
  // Returns the hits of the page, in order.
  template <typename First>
  std::vector<Hit> Page(std::vector<RankedHit>* hits, First&& comes_first) const;

  // True if hits enter without their bonus.
  bool has_late_bonuses() const { return order_ == Order::kScore && proximity_ != nullptr && !distinct_; }

  void CollectByScore(const Window& window, const float* scores);
  void AddThoseWithBonus(const Window& window, const float* scores, uint64_t* reaching) const;
  void AddByScore(Hit hit);
  void CollectByRecordNumber(const Window& window, const float* scores);
  void CollectByKeys(const Window& window, const float* scores);
  void FilterByBar();
  void ReadKeys(uint32_t document, double* values) const;
  double ReadColumn(const SortKey& key, const Column* column, uint32_t document) const;
  Hit MakeHit(uint32_t document, float score) const;

  // Returns < 0 if a comes first.
  int CompareKey(size_t key, const Hit& a, double a_value, const Hit& b, double b_value) const;
  // Compares without scores; returns 0 if scores would decide or nothing differs.
  int CompareWithoutScores(const Hit& a, const double* a_values, const Hit& b, const double* b_values) const;
  bool ComesFirst(const Hit& a, const double* a_values, const Hit& b, const double* b_values) const;
  bool EntersAfterBar(const Hit& hit, const double* values) const;
  bool IsBehindItsValue(const Hit& hit, const double* values);
  // If hits are distinct, removes all but the best hit of each value.
  void KeepFirstOfEachValue(std::vector<RankedHit>* order) const;
  // Returns true if the hit may reach the bar by its score without the bonus plus the most that the bonus can be.
  bool MayCatchUp(const Hit& hit) const { return hit.score + hit.bonus_bound >= bar_score_; }
  void Add(const Hit& hit, const double* values);
  void RaiseBar(float score);
  void KeepBest();
  void KeepBestByKeys();
  void Keep(std::span<const RankedHit> order);
  void TakeBar(uint32_t hit);
  void ScoreLate();
  // Adds the bonuses of all hits that may be among those wanted, and removes the other hits.
  void AddBonuses();

  const Generation& generation_;
  const QueryPlan& plan_;
  Order order_;
  ProximityScorer* proximity_;
  bool needs_every_score_ = false;
  float unscored_ = 0;  // the score of hits in storage order without scores
  size_t kept_max_ = 0;
  size_t buffer_max_ = 0;
  size_t stride_ = 0;  // values per hit
  std::optional<DistinctHits> distinct_;
  std::vector<Hit> hits_;
  std::vector<double> values_;  // stride_ per hit; NaN = missing; strings as ordinals of the hit's segment
  bool has_bar_ = false;
  Hit bar_;
  std::vector<double> bar_values_;
  bool scores_come_late_ = false;  // true if some hit has no score yet
  LateScores late_scores_;
  float bar_score_ = 0;             // in the order of scores
  std::vector<float> best_scores_;  // a min-heap of the kept_max_ best scores so far, from which a bar follows

  // State of the current segment.
  uint32_t segment_ = 0;
  const uint32_t* record_numbers_ = nullptr;
  std::vector<const Column*> columns_;  // by sort key; null if the key has no column or the segment lacks it
  std::optional<ColumnFilter> bar_filter_;  // the documents that the bar's first key admits
};

}  // namespace gannet
