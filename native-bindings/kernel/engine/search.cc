#include "search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "../collect/facet_counter.h"
#include "../collect/hit_collector.h"
#include "../common/stop.h"
#include "../query/query_plan.h"
#include "../query/expected_score.h"
#include "../sources/combined_matches.h"
#include "../sources/word_source.h"
#include "explain.h"
#include "result_writer.h"
#include "segment_matches.h"
#include "thread_scratch.h"
#include "window_removals.h"

namespace gannet {
namespace {

class Searcher {
 public:
  Searcher(const Generation& generation, const QueryPlan& plan, const OtherSources& others, ThreadScratch* scratch)
      : generation_(generation),
        plan_(plan),
        scratch_(scratch),
        query_(PrepareQuery(generation, plan, plan.size > 0 || plan.minimum_score > 0 || !others.shares.empty())),
        proximity_(&query_, &scratch->proximity),
        words_(&query_, &proximity_, &scratch->matching),
        collector_(generation, plan, others.shares.empty() ? &proximity_ : nullptr) {
    for (const PlanFacet& facet : plan.facets) facets_.emplace_back(generation, facet);
    needs_.scores = collector_.needs_every_score() || plan.minimum_score > 0;
    if (!others.shares.empty()) {
      const float full = others.words_full > 0 ? others.words_full : ExpectedScore(query_);
      shares_.push_back({&words_, others.words_weight, others.words_floor, true, full});
      shares_.insert(shares_.end(), others.shares.begin(), others.shares.end());
    }
    needs_.all_matches = (plan.flags & kNeedTotal) != 0 || !facets_.empty();
  }

  SearchResult Run() {
    for (uint32_t segment = 0; segment < generation_.segments.size(); ++segment) {
      if (shares_.empty()) {
        SearchSegment(segment);
      } else {
        SearchSources(segment);
      }
    }
    SearchResult result;
    result.total_count = total_;
    result.hits = collector_.Finish();
    if (!facets_.empty()) WriteFacets(&result);
    if (plan_.flags & kExplain) result.explain = ExplainHits(query_, result.hits, shares_);
    WriteScores(&result);
    return result;
  }

 private:
  void SearchSegment(uint32_t segment) {
    StopNowIfAsked();
    if (!query_.MayMatch(segment)) return;
    collector_.BeginSegment(segment);
    for (FacetCounter& facet : facets_) facet.BeginSegment(segment);
    std::unique_ptr<SegmentEvaluator> scorer;  // Made when a score is first asked for.
    const auto count_window = [&](const Window& window) {
      total_ += window.matches.Count();
      for (FacetCounter& facet : facets_) facet.Count(window);
    };
    const auto consume = [&](const Window& window, uint32_t index) {
      count_window(window);
      collector_.Collect(window, needs_.scores ? window.scores : nullptr, [&]() -> const float* {
        if (!scorer) scorer = std::make_unique<SegmentEvaluator>(&query_, segment, EvaluationNeeds{}, &scratch_->scoring);
        return scorer->Evaluate(index)->scores;
      });
    };
    SegmentMatches matches(query_, plan_, segment, needs_, &scratch_->matching, &proximity_, &collector_);
    const auto count = [&](uint32_t more) { total_ += more; };
    const auto collect = [&](std::span<const ScoredDocument> scored) { collector_.CollectScored(scored); };
    const bool has_facets = !facets_.empty();
    switch (matches.ChooseWay(!collector_.wants_hits() && !has_facets, collector_.is_by_score(), has_facets)) {
      case Way::kCount:
        total_ += matches.Count();
        break;
      case Way::kDocuments:
        matches.ForEachDocument(count, collect);
        break;
      case Way::kSpans:
        collector_.SeedBar(matches.SeedBar(collector_.wanted()));
        matches.ForEachSpan(has_facets, consume, count, count_window, collect);
        break;
      case Way::kWindows:
        matches.ForEachWindow(consume);
        break;
    }
    for (FacetCounter& facet : facets_) facet.EndSegment();
  }

  // The same where words are not alone.
  void SearchSources(uint32_t segment) {
    StopNowIfAsked();
    collector_.BeginSegment(segment);
    for (FacetCounter& facet : facets_) facet.BeginSegment(segment);
    const SegmentView& view = generation_.segments[segment];
    const ColumnFilter filter(plan_.filter, *view.segment);
    const float minimum = plan_.minimum_score;
    // Below the minimum nothing is counted; so no more has to be found than what reaches it.
    CombinedMatches matches(segment, view.segment->document_count(), shares_, needs_.all_matches && minimum <= 0);
    const auto bar = [&] {
      return minimum > 0 && needs_.all_matches ? minimum : std::max(minimum, collector_.bar());
    };
    for (uint32_t index = matches.NextWindow(0, bar()); index < matches.window_count();
         index = matches.NextWindow(index + 1, bar())) {
      StopIfAsked();
      Window* window = matches.Evaluate(index, bar());
      RemoveDeletedFrom(window, view.deletions);
      if (minimum > 0) RemoveBelow(minimum, window);
      filter.Apply(window);
      if (!window->matches.Any()) continue;
      total_ += window->matches.Count();
      for (FacetCounter& facet : facets_) facet.Count(*window);
      collector_.Collect(*window, window->scores, [&] { return window->scores; });
    }
    for (FacetCounter& facet : facets_) facet.EndSegment();
  }

  void WriteScores(SearchResult* result) const {
    for (const SourceShare& share : shares_) result->kinds.push_back(share.source->kind());
    for (const Hit& hit : result->hits) {
      for (const SourceShare& share : shares_) result->scores.push_back(share.ScoreOf(hit.segment, hit.document));
    }
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
  WordSource words_;
  std::vector<SourceShare> shares_;  // none where words are alone
  HitCollector collector_;
  std::vector<FacetCounter> facets_;
  EvaluationNeeds needs_;
  uint64_t total_ = 0;
};

std::vector<uint8_t> SearchPlan(const Generation& generation, const QueryPlan& plan, const OtherSources& others) {
  ScratchLease scratch;
  const SearchResult result = Searcher(generation, plan, others, &*scratch).Run();
  scratch.Return();
  return WriteResult(generation, plan, result);
}

}  // namespace

std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> bytes, const OtherSources& others) {
  return SearchPlan(generation, ParsePlan(bytes), others);
}

std::vector<uint8_t> SearchWithMeaning(const Generation& generation, std::span<const uint8_t> bytes, MeaningRequest meaning) {
  const QueryPlan plan = ParsePlan(bytes);
  const bool adds_matches = meaning.adds_matches;
  const float weight = meaning.weight;
  const float words_full = meaning.words_full;
  MeaningSource source(&generation, &plan.filter, std::move(meaning));
  return SearchPlan(generation, plan, {{{&source, weight, 0, adds_matches}}, 1 - weight, 0, words_full});
}

std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> bytes) {
  const QueryPlan plan = ParsePlan(bytes);
  const PreparedQuery query = PrepareQuery(generation, plan);
  ScratchLease scratch;
  ProximityScorer proximity(&query, &(*scratch).proximity);
  std::vector<uint32_t> numbers;
  for (uint32_t segment = 0; segment < generation.segments.size(); ++segment) {
    StopNowIfAsked();
    if (!query.MayMatch(segment)) continue;
    const uint32_t* record_numbers = generation.segments[segment].segment->record_numbers().data();
    const auto consume = [&](const Window& window, uint32_t) {
      ForEachBit(window.matches,
                 [&](uint32_t offset) { numbers.push_back(record_numbers[window.range.base + offset]); });
    };
    SegmentMatches(query, plan, segment, {.scores = plan.minimum_score > 0}, &(*scratch).matching, &proximity, nullptr)
        .ForEachWindow(consume);
  }
  scratch.Return();
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gannet
