#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "../topk/segment_evaluator.h"
#include "../topk/simd.h"
#include "column_filter.h"
#include "explain.h"
#include "facet_counter.h"
#include "generation.h"
#include "hit_collector.h"
#include "query_plan.h"
#include "result_writer.h"

namespace gannet {
namespace {

// Cursors above this number are given back to the system after the search that needed them.
constexpr size_t kKeptCursorsMax = 1024;

// Two, because hits in the order of a column are matched without scores, and scored late by a second evaluator.
struct ThreadScratch {
  EvaluatorScratch matching;
  EvaluatorScratch scoring;
  std::vector<PostingCursor> proximity;
};

// The scratch of this thread for the time of one search. Its arrays are zero between searches (window.h), which an
// error half-way through would leave untrue: then the scratch is dropped and the next search makes a new one.
class ScratchLease {
 public:
  ScratchLease() : scratch_(Slot()) {
    if (!scratch_) scratch_ = std::make_unique<ThreadScratch>();
  }
  ~ScratchLease() {
    if (!returned_) scratch_.reset();
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  ThreadScratch& operator*() const { return *scratch_; }

  void Return() {
    for (auto* cursors : {&scratch_->matching.cursors, &scratch_->scoring.cursors, &scratch_->proximity}) {
      if (cursors->size() > kKeptCursorsMax) std::vector<PostingCursor>().swap(*cursors);
    }
    returned_ = true;
  }

 private:
  static std::unique_ptr<ThreadScratch>& Slot() {
    static thread_local std::unique_ptr<ThreadScratch> scratch;
    return scratch;
  }

  std::unique_ptr<ThreadScratch>& scratch_;
  bool returned_ = false;
};

void RemoveDeleted(const DeletionSet& deletions, Window* window) {
  if (deletions.deleted_count == 0) return;
  const auto& chunk = deletions.chunks[window->range.base / kWindowSize];
  if (chunk) window->matches.Subtract(chunk->data());
}

void RemoveBelow(float minimum_score, Window* window) {
  uint64_t passing[kWindowWords];
  WindowBits& matches = window->matches;
  CompareWords(window->scores, minimum_score, matches.used, passing);
  ForEachWord(matches.used, [&](uint32_t word) { matches.words[word] &= passing[word]; });
}

// The same where documents may reach the minimum by their bonus: only these have theirs worked out.
void RemoveBelowWithBonus(float minimum_score, uint32_t segment, ProximityScorer* proximity, Window* window) {
  ForEachBit(window->matches, [&](uint32_t offset) {
    const float score = window->scores[offset];
    if (score >= minimum_score) return;
    const uint32_t document = window->range.base + offset;
    const bool may_reach = window->bonus_candidates.Contains(offset) &&
                           score + proximity->BoundOf(segment, document) >= minimum_score;
    if (may_reach && score + proximity->Bonus(segment, document, minimum_score - score) >= minimum_score) return;
    window->matches.Remove(offset);
  });
}

// Calls visit(window, window number) for every window of a segment that has matches, after deletions, filter and
// minimum score.
template <typename Visit>
void ForEachWindow(const PreparedQuery& query, const QueryPlan& plan, uint32_t segment, EvaluationNeeds needs,
                   EvaluatorScratch* scratch, ProximityScorer* proximity, const HitCollector* collector,
                   Visit&& visit) {
  const SegmentView& view = query.generation->segments[segment];
  const ColumnFilter filter(plan.filter, *view.segment);
  SegmentEvaluator evaluator(&query, segment, needs, scratch);
  const auto bar = [&] {
    if (!needs.scores || collector == nullptr) return 0.0f;
    return plan.minimum_score > 0 ? std::min(plan.minimum_score, collector->bar()) : collector->bar();
  };
  for (uint32_t index = evaluator.NextWindow(0, bar()); index < evaluator.window_count();
       index = evaluator.NextWindow(index + 1, bar())) {
    Window* window = evaluator.Evaluate(index, bar());
    RemoveDeleted(view.deletions, window);
    if (plan.minimum_score > 0) RemoveBelow(plan.minimum_score - proximity->BoundIn(segment, window->range), window);
    filter.Apply(window);
    if (plan.minimum_score > 0 && !proximity->empty()) {
      RemoveBelowWithBonus(plan.minimum_score, segment, proximity, window);
    }
    if (window->matches.Any()) visit(*window, index);
  }
}

class Searcher {
 public:
  Searcher(const Generation& generation, const QueryPlan& plan, ThreadScratch* scratch)
      : generation_(generation),
        plan_(plan),
        scratch_(scratch),
        query_(PrepareQuery(generation, plan)),
        proximity_(&query_, &scratch->proximity),
        collector_(generation, plan, &proximity_) {
    for (const PlanFacet& facet : plan.facets) facets_.emplace_back(generation, facet);
    needs_.scores = collector_.needs_every_score() || plan.minimum_score > 0;
    needs_.all_matches = (plan.flags & kNeedTotal) != 0 || !facets_.empty();
  }

  SearchResult Run() {
    for (uint32_t segment = 0; segment < generation_.segments.size(); ++segment) SearchSegment(segment);
    SearchResult result;
    result.total_count = total_;
    result.hits = collector_.Finish();
    if (!facets_.empty()) WriteFacets(&result);
    if (plan_.flags & kExplain) result.explain = ExplainHits(query_, result.hits);
    return result;
  }

 private:
  void SearchSegment(uint32_t segment) {
    collector_.BeginSegment(segment);
    for (FacetCounter& facet : facets_) facet.BeginSegment(segment);
    std::unique_ptr<SegmentEvaluator> scorer;  // Made when a score is first asked for.
    const auto consume = [&](const Window& window, uint32_t index) {
      total_ += window.matches.Count();
      for (FacetCounter& facet : facets_) facet.Count(window);
      collector_.Collect(window, needs_.scores ? window.scores : nullptr, [&]() -> const float* {
        if (!scorer) scorer = std::make_unique<SegmentEvaluator>(&query_, segment, EvaluationNeeds{}, &scratch_->scoring);
        return scorer->Evaluate(index)->scores;
      });
    };
    ForEachWindow(query_, plan_, segment, needs_, &scratch_->matching, &proximity_, &collector_, consume);
    for (FacetCounter& facet : facets_) facet.EndSegment();
  }

  void WriteFacets(SearchResult* result) const {
    result->facets.push_back('{');
    result->ranges.push_back('{');
    for (const FacetCounter& facet : facets_) facet.AppendJson(&result->facets, &result->ranges);
    result->facets.push_back('}');
    result->ranges.push_back('}');
    if (result->ranges.size() == 2) result->ranges.clear();
  }

  const Generation& generation_;
  const QueryPlan& plan_;
  ThreadScratch* scratch_;
  PreparedQuery query_;
  ProximityScorer proximity_;
  HitCollector collector_;
  std::vector<FacetCounter> facets_;
  EvaluationNeeds needs_;
  uint64_t total_ = 0;
};

}  // namespace

std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> bytes) {
  const QueryPlan plan = ParsePlan(bytes);
  ScratchLease scratch;
  const SearchResult result = Searcher(generation, plan, &*scratch).Run();
  scratch.Return();
  return WriteResult(generation, plan, result);
}

std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> bytes) {
  const QueryPlan plan = ParsePlan(bytes);
  const PreparedQuery query = PrepareQuery(generation, plan);
  ScratchLease scratch;
  ProximityScorer proximity(&query, &(*scratch).proximity);
  std::vector<uint32_t> numbers;
  for (uint32_t segment = 0; segment < generation.segments.size(); ++segment) {
    const uint32_t* record_numbers = generation.segments[segment].segment->record_numbers().data();
    const auto consume = [&](const Window& window, uint32_t) {
      ForEachBit(window.matches,
                 [&](uint32_t offset) { numbers.push_back(record_numbers[window.range.base + offset]); });
    };
    ForEachWindow(query, plan, segment, {.scores = plan.minimum_score > 0}, &(*scratch).matching, &proximity, nullptr,
                  consume);
  }
  scratch.Return();
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gannet
