#include "hit_collector.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "../common/error.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "../filter/geo.h"
#include "../window/selection.h"
#include "late_bonuses.h"

namespace gannet {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
// Minimum number of additional hits that small pages gather before only the better ones are kept.
constexpr size_t kSpareHitsMin = 64;
// Up to this many wanted hits, every hit may raise the bar; for more, a heap costs more than it saves.
constexpr size_t kHeapMax = 1000;
// Number of hits for which room is reserved; more are rare.
constexpr size_t kHitsReservedMax = 256;

void CheckSortColumn(const Generation& generation, const SortKey& key) {
  for (const SegmentView& view : generation.segments) {
    const auto& columns = view.segment->meta().columns;
    if (key.column >= columns.size()) continue;
    const bool is_location = columns[key.column].type == ColumnType::kLocation;
    if (is_location != (key.by == SortBy::kDistance)) {
      throw Error(ErrorCode::kInvalidArgument, "sort key does not fit the type of its column");
    }
    return;
  }
  if (!generation.segments.empty()) throw Error(ErrorCode::kInvalidArgument, "sort by an unknown column");
}

template <typename T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

HitCollector::HitCollector(const Generation& generation, const QueryPlan& plan, ProximityScorer* proximity,
                           LateScores late_scores)
    : generation_(generation),
      plan_(plan),
      proximity_(proximity == nullptr || proximity->empty() ? nullptr : proximity),
      late_scores_(std::move(late_scores)),
      columns_(plan.sort_keys.size()) {
  const uint64_t wanted = std::min<uint64_t>(uint64_t{plan.skip} + plan.size, generation.live_count);
  // A page after the last match has no hits, whatever the order.
  kept_max_ = plan.skip >= generation.live_count || plan.size == 0 ? 0 : static_cast<size_t>(wanted);
  buffer_max_ = kept_max_ + std::max(kept_max_, kSpareHitsMin);
  const bool has_scoring_groups = std::any_of(plan.groups.begin(), plan.groups.end(),
                                              [](const PlanGroup& group) { return group.occur != Occur::kMustNot; });
  unscored_ = has_scoring_groups ? 0.0f : 1.0f;
  for (const SortKey& key : plan.sort_keys) {
    if (key.by == SortBy::kColumn || key.by == SortBy::kDistance) CheckSortColumn(generation, key);
  }
  if (plan.is_distinct) {
    distinct_.emplace(generation, plan.distinct_column, kept_max_);
    buffer_max_ = distinct_->buffer_max();
  }
  if (plan.flags & kStorageOrder) {
    order_ = Order::kRecordNumber;
  } else if (plan.sort_keys.empty()) {
    order_ = Order::kScore;
    needs_every_score_ = wants_hits();
  } else {
    order_ = Order::kKeys;
    stride_ = plan.sort_keys.size();
    for (const SortKey& key : plan.sort_keys) needs_every_score_ |= key.by == SortBy::kScore && wants_hits();
  }
}

void HitCollector::BeginSegment(uint32_t segment) {
  segment_ = segment;
  const Segment& source = *generation_.segments[segment].segment;
  record_numbers_ = source.record_numbers().data();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const SortKey& key = plan_.sort_keys[i];
    const bool uses_column = key.by == SortBy::kColumn || key.by == SortBy::kDistance;
    columns_[i] = uses_column ? FindColumn(source, key.column) : nullptr;
  }
  FilterByBar();
}

void HitCollector::Collect(const Window& window, const float* scores) {
  if (!wants_hits()) return;
  switch (order_) {
    case Order::kScore:
      return CollectByScore(window, scores);
    case Order::kRecordNumber:
      return CollectByRecordNumber(window, scores);
    case Order::kKeys:
      return CollectByKeys(window, scores);
  }
}

Hit HitCollector::MakeHit(uint32_t document, float score) const {
  return {score, record_numbers_[document], segment_, document, false};
}

void HitCollector::CollectByScore(const Window& window, const float* scores) {
  // Equal scores may still enter, because ties are decided by record number.
  uint64_t reaching[kWindowWords];
  CompareWords(scores, bar_score_, window.matches.used, reaching);
  if (proximity_ != nullptr) AddThoseWithBonus(window, scores, reaching);
  ForEachWord(window.matches.used, [&](uint32_t word) {
    ForEachBit(window.matches.words[word] & reaching[word], word * 64, [&](uint32_t offset) {
      Hit hit = MakeHit(window.range.base + offset, scores[offset]);
      hit.has_bonus = proximity_ != nullptr && !window.bonus_candidates.Contains(offset);
      if (proximity_ != nullptr && !hit.has_bonus) hit.bonus_bound = proximity_->BoundOf(segment_, hit.document);
      AddByScore(hit);
    });
  });
}

void HitCollector::CollectScored(std::span<const ScoredDocument> documents) {
  for (const auto& [document, score, bonus_bound] : documents) {
    if (score + bonus_bound < bar_score_) continue;
    Hit hit = MakeHit(document, score);
    hit.has_bonus = proximity_ != nullptr && bonus_bound == 0;
    hit.bonus_bound = bonus_bound;
    AddByScore(hit);
  }
}

void HitCollector::AddByScore(Hit hit) {
  if (distinct_ && proximity_ != nullptr && !hit.has_bonus && MayCatchUp(hit)) {
    hit.score += proximity_->Bonus(segment_, hit.document, bar_score_ - hit.score);
    hit.has_bonus = true;
  }
  const bool is_final = hit.has_bonus || proximity_ == nullptr;
  if (is_final ? !EntersAfterBar(hit, nullptr) : !MayCatchUp(hit)) return;
  RaiseBar(hit.score);
  Add(hit, nullptr);
}

// Of the documents that may have a bonus, adds those that may reach the bar with the greatest bonus of the window.
void HitCollector::AddThoseWithBonus(const Window& window, const float* scores, uint64_t* reaching) const {
  const WindowBits& candidates = window.bonus_candidates;
  uint64_t others[kWindowWords];
  const uint64_t used = candidates.used & window.matches.used;
  CompareWords(scores, bar_score_ - proximity_->BoundIn(segment_, window.range), used, others);
  ForEachWord(used, [&](uint32_t word) { reaching[word] |= others[word] & candidates.words[word]; });
}

void HitCollector::CollectByRecordNumber(const Window& window, const float* scores) {
  ForEachBit(window.matches, [&](uint32_t offset) {
    Hit hit = MakeHit(window.range.base + offset, scores == nullptr ? unscored_ : scores[offset]);
    if (!EntersAfterBar(hit, nullptr)) return;
    if (scores != nullptr && proximity_ != nullptr && window.bonus_candidates.Contains(offset)) {
      hit.score += proximity_->Bonus(segment_, hit.document);
    }
    Add(hit, nullptr);
  });
}

void HitCollector::CollectByKeys(const Window& window, const float* scores) {
  std::array<double, kSortKeysMax> values;
  WindowBits reaching;
  if (bar_filter_) bar_filter_->Apply(window.range, window.matches, &reaching);
  ForEachBit(bar_filter_ ? reaching : window.matches, [&](uint32_t offset) {
    Hit hit = MakeHit(window.range.base + offset, 0);
    ReadKeys(hit.document, values.data());
    if (scores == nullptr || proximity_ != nullptr) {
      if (has_bar_ && CompareWithoutScores(hit, values.data(), bar_, bar_values_.data()) > 0) return;
    }
    if (scores == nullptr) {
      hit.is_late = true;
      return Add(hit, values.data());
    }
    hit.score = scores[offset];
    if (proximity_ != nullptr && window.bonus_candidates.Contains(offset)) {
      hit.score += proximity_->Bonus(segment_, hit.document);
    }
    if (EntersAfterBar(hit, values.data())) Add(hit, values.data());
  });
  // Done after the window and not within it, because late scores of neighbouring documents cost less.
  if (!scores_come_late_ || hits_.size() < buffer_max_) return;
  if (distinct_) {
    ScoreLate();
    KeepBest();
  } else {
    KeepBestByKeys();
  }
}

// If a document has several values, one that does not sort after the bar's is enough, since the best one counts.
void HitCollector::FilterByBar() {
  bar_filter_.reset();
  if (!has_bar_ || order_ != Order::kKeys || plan_.sort_keys.front().by != SortBy::kColumn) return;
  const SortKey& key = plan_.sort_keys.front();
  const double value = bar_values_.front();
  if (std::isnan(value)) return;
  FilterNode node;
  node.op = key.descending ? FilterOp::kGreaterOrEqual : FilterOp::kLessOrEqual;
  node.column = key.column;
  const Column& column = generation_.segments[bar_.segment].segment->column(key.column);
  const bool is_string = column.type() == ColumnType::kString;
  node.values = {{!is_string, value, is_string ? column.Key(static_cast<uint32_t>(value)) : std::string_view()}};
  bar_filter_.emplace(node, *generation_.segments[segment_].segment);
}

void HitCollector::ReadKeys(uint32_t document, double* values) const {
  for (size_t i = 0; i < stride_; ++i) {
    values[i] = columns_[i] == nullptr ? kMissing : ReadColumn(plan_.sort_keys[i], columns_[i], document);
  }
}

// Returns, of several values, the one that sorts first in the direction of the key.
double HitCollector::ReadColumn(const SortKey& key, const Column* column, uint32_t document) const {
  const uint32_t count = column->ValueCount(document);
  if (count == 0) return kMissing;
  if (column->type() == ColumnType::kLocation) {
    const Column::Point point = column->Location(document);
    return DistanceMetres(key.origin, {point.latitude, point.longitude});
  }
  const bool is_string = column->type() == ColumnType::kString;
  double value = kMissing;
  for (uint32_t i = 0; i < count; ++i) {
    const double other = is_string ? column->Ordinal(document, i) : column->Number(document, i);
    if (i == 0 || (key.descending ? other > value : other < value)) value = other;
  }
  return value;
}

int HitCollector::CompareKey(size_t index, const Hit& a, double a_value, const Hit& b, double b_value) const {
  const SortKey& key = plan_.sort_keys[index];
  int order = 0;
  if (key.by == SortBy::kScore) {
    order = Compare(a.score, b.score);
  } else if (key.by == SortBy::kRecordNumber) {
    order = Compare(a.record_number, b.record_number);
  } else {
    const bool a_missing = std::isnan(a_value);
    const bool b_missing = std::isnan(b_value);
    if (a_missing || b_missing) return a_missing == b_missing ? 0 : a_missing ? 1 : -1;
    order = Compare(a_value, b_value);
    if (a.segment != b.segment && key.by == SortBy::kColumn) {
      // Ordinals of different segments cannot be compared, but keys can.
      const Column& a_column = generation_.segments[a.segment].segment->column(key.column);
      const Column& b_column = generation_.segments[b.segment].segment->column(key.column);
      if (a_column.type() == ColumnType::kString && b_column.type() == ColumnType::kString) {
        order = Compare(a_column.Key(static_cast<uint32_t>(a_value)), b_column.Key(static_cast<uint32_t>(b_value)));
      }
    }
  }
  return key.descending ? -order : order;
}

int HitCollector::CompareWithoutScores(const Hit& a, const double* a_values, const Hit& b,
                                       const double* b_values) const {
  for (size_t i = 0; i < stride_; ++i) {
    if (plan_.sort_keys[i].by == SortBy::kScore) return 0;
    if (const int order = CompareKey(i, a, a_values[i], b, b_values[i]); order != 0) return order;
  }
  return 0;
}

bool HitCollector::ComesFirst(const Hit& a, const double* a_values, const Hit& b, const double* b_values) const {
  for (size_t i = 0; i < stride_; ++i) {
    if (const int order = CompareKey(i, a, a_values[i], b, b_values[i]); order != 0) return order < 0;
  }
  if (order_ != Order::kRecordNumber && a.score != b.score) return a.score > b.score;
  return a.record_number < b.record_number;
}

bool HitCollector::EntersAfterBar(const Hit& hit, const double* values) const {
  return !has_bar_ || ComesFirst(hit, values, bar_, bar_values_.data());
}

void HitCollector::Add(const Hit& hit, const double* values) {
  if (distinct_ && !hit.is_late && IsBehindItsValue(hit, values)) return;
  if (hits_.empty()) hits_.reserve(std::min(buffer_max_, kHitsReservedMax));
  hits_.push_back(hit);
  if (stride_ > 0) values_.insert(values_.end(), values, values + stride_);
  scores_come_late_ |= hit.is_late;
  const bool is_time_for_bar = distinct_ && !has_bar_ && distinct_->has_enough();
  if ((hits_.size() >= buffer_max_ || is_time_for_bar) && !hit.is_late) KeepBest();
}

// Raises the bar by a lower bound of one more hit's score.
void HitCollector::RaiseBar(float score) {
  // Hits may share a value, so they are no bound for as many values.
  if (kept_max_ > kHeapMax || distinct_) return;
  if (best_scores_.size() < kept_max_) {
    if (best_scores_.empty()) best_scores_.reserve(kept_max_);
    best_scores_.push_back(score);
    if (best_scores_.size() < kept_max_) return;
    std::make_heap(best_scores_.begin(), best_scores_.end(), std::greater<>());
  } else {
    if (score <= best_scores_.front()) return;
    std::pop_heap(best_scores_.begin(), best_scores_.end(), std::greater<>());
    best_scores_.back() = score;
    std::push_heap(best_scores_.begin(), best_scores_.end(), std::greater<>());
  }
  bar_score_ = std::max(bar_score_, best_scores_.front());
}

void HitCollector::KeepBest() {
  if (has_late_bonuses()) {
    AddBonuses();
    if (hits_.size() < kept_max_) return;
  }
  std::vector<RankedHit> order = RankHits();
  KeepFirstOfEachValue(&order);
  const size_t kept = std::min(kept_max_, order.size());
  const auto last = order.begin() + static_cast<ptrdiff_t>(kept - 1);
  if (order_ == Order::kScore) {
    std::nth_element(order.begin(), last, order.end(), HasLowerRank);
  } else {
    std::nth_element(order.begin(), last, order.end(), [&](const RankedHit& a, const RankedHit& b) { return ComesFirst(a, b); });
  }
  TakeBar(last->index);
  has_bar_ = kept == kept_max_;
  if (has_bar_ && order_ == Order::kScore) bar_score_ = std::max(bar_score_, bar_.score);
  Keep(std::span(order).first(kept));
  FilterByBar();
}

bool HitCollector::IsBehindItsValue(const Hit& hit, const double* values) {
  return distinct_->IsBehindItsValue(hit, hits_.size(), [&](uint32_t index) {
    return ComesFirst(hits_[index], values_.data() + index * stride_, hit, values);
  });
}

void HitCollector::KeepFirstOfEachValue(std::vector<RankedHit>* order) const {
  if (!distinct_) return;
  distinct_->KeepFirstOfEachValue(hits_, order, [&](const RankedHit& a, const RankedHit& b) { return ComesFirst(a, b); });
}

void HitCollector::TakeBar(uint32_t hit) {
  bar_ = hits_[hit];
  bar_values_.assign(values_.begin() + static_cast<ptrdiff_t>(hit * stride_),
                     values_.begin() + static_cast<ptrdiff_t>((hit + 1) * stride_));
}

// Keeps these hits and removes the others.
void HitCollector::Keep(std::span<const RankedHit> order) {
  std::vector<Hit> hits;
  std::vector<double> values;
  hits.reserve(buffer_max_);
  values.reserve(buffer_max_ * stride_);
  for (const RankedHit& each : order) {
    hits.push_back(hits_[each.index]);
    values.insert(values.end(), values_.begin() + static_cast<ptrdiff_t>(each.index * stride_),
                  values_.begin() + static_cast<ptrdiff_t>((each.index + 1) * stride_));
  }
  hits_ = std::move(hits);
  values_ = std::move(values);
  if (distinct_) distinct_->Moved(hits_);
}

// For hits without scores: keeps the best by their keys, and all that tie with the worst of these.
void HitCollector::KeepBestByKeys() {
  if (hits_.size() < kept_max_) return;
  std::vector<RankedHit> order = RankHits();
  const auto compare = [&](const RankedHit& a, const RankedHit& b) {
    StopIfAsked();
    return CompareWithoutScores(hits_[a.index], values_.data() + a.index * stride_, hits_[b.index],
                                values_.data() + b.index * stride_);
  };
  const auto last = order.begin() + static_cast<ptrdiff_t>(kept_max_ - 1);
  std::nth_element(order.begin(), last, order.end(), [&](const RankedHit& a, const RankedHit& b) { return compare(a, b) < 0; });
  const RankedHit worst = *last;
  const auto rest = std::partition(last, order.end(), [&](const RankedHit& each) { return compare(each, worst) <= 0; });
  order.erase(rest, order.end());
  TakeBar(worst.index);
  has_bar_ = true;
  Keep(order);
  if (hits_.size() > kept_max_ + (buffer_max_ - kept_max_) / 2) {
    // Too many hits tie: their scores decide which of them are kept.
    ScoreLate();
    KeepBest();
  } else {
    FilterByBar();
  }
}

void HitCollector::ScoreLate() {
  std::vector<Hit*> late;
  for (Hit& hit : hits_) {
    if (hit.is_late) late.push_back(&hit);
  }
  scores_come_late_ = false;
  if (late.empty()) return;
  std::ranges::sort(late, {}, [](const Hit* hit) { return std::pair(hit->segment, hit->document); });
  late_scores_(late);
  for (Hit* hit : late) hit->is_late = false;
}

void HitCollector::AddBonuses() { bar_score_ = AddLateBonuses(proximity_, kept_max_, bar_score_, &hits_); }

std::vector<Hit> HitCollector::Finish() {
  if (has_late_bonuses() && !hits_.empty()) AddBonuses();
  if (scores_come_late_) {
    if (!distinct_) KeepBestByKeys();
    ScoreLate();
  }
  std::vector<RankedHit> hits = RankHits();
  KeepFirstOfEachValue(&hits);
  if (order_ == Order::kScore) return Page(&hits, HasLowerRank);
  return Page(&hits, [&](const RankedHit& a, const RankedHit& b) { return ComesFirst(a, b); });
}

std::vector<RankedHit> HitCollector::RankHits() const {
  std::vector<RankedHit> ranked(hits_.size());
  for (uint32_t i = 0; i < hits_.size(); ++i) {
    // Scores are never negative, so their bits ascend with them.
    const uint32_t falling_score = ~std::bit_cast<uint32_t>(hits_[i].score);
    ranked[i] = {uint64_t{falling_score} << 32 | hits_[i].record_number, i};
  }
  return ranked;
}

// Comparing by columns is the slow part of sorting many hits.
bool HitCollector::ComesFirst(const RankedHit& a, const RankedHit& b) const {
  StopIfAsked();
  return ComesFirst(hits_[a.index], values_.data() + a.index * stride_, hits_[b.index],
                    values_.data() + b.index * stride_);
}

template <typename First>
std::vector<Hit> HitCollector::Page(std::vector<RankedHit>* hits, First&& comes_first) const {
  const size_t end = std::min(hits->size(), kept_max_);
  const size_t begin = std::min<size_t>(plan_.skip, end);
  const auto first = hits->begin() + static_cast<ptrdiff_t>(begin);
  const auto last = hits->begin() + static_cast<ptrdiff_t>(end);
  // Skipped hits need not be in order.
  if (begin > 0 && begin < hits->size()) std::nth_element(hits->begin(), first, hits->end(), comes_first);
  // To choose few of many, a heap is used; otherwise, choosing them first leaves less to sort.
  if (2 * (end - begin) < hits->size() - begin) {
    std::partial_sort(first, last, hits->end(), comes_first);
  } else {
    if (last != hits->end()) std::nth_element(first, last, hits->end(), comes_first);
    std::sort(first, last, comes_first);
  }
  std::vector<Hit> page;
  page.reserve(end - begin);
  for (auto hit = first; hit != last; ++hit) page.push_back(hits_[hit->index]);
  return page;
}

}  // namespace gannet
