#include "search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "../collect/facet_counter.h"
#include "../collect/hit_collector.h"
#include "../common/stop.h"
#include "../evaluation/segment_evaluator.h"
#include "../filter/column_filter.h"
#include "../query/query_plan.h"
#include "../window/selection.h"
#include "explain.h"
#include "result_writer.h"

namespace gannet {
namespace {

// Cursors above this number are given back to the system after the search that needed them.
constexpr size_t kKeptCursorsMax = 1024;
// And so is the memory of spans with more numbers than this: some MiB.
constexpr size_t kKeptSpanNumbersMax = size_t{1} << 20;

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
    SpanScratch& span = scratch_->matching.span;
    if (span.postings.offsets.size() + span.frequencies.size() > kKeptSpanNumbersMax) span = SpanScratch();
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

void RemoveDeletedFrom(Window* window, const DeletionSet& deletions) {
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

// The matches of a segment, after deletions, filter and minimum score.
class SegmentSearch {
 public:
  // `collector` may be null: then nothing is left out for its bar.
  SegmentSearch(const PreparedQuery& query, const QueryPlan& plan, uint32_t segment, EvaluationNeeds needs,
                EvaluatorScratch* scratch, ProximityScorer* proximity, const HitCollector* collector)
      : plan_(plan),
        segment_(segment),
        view_(query.generation->segments[segment]),
        needs_(needs),
        scratch_(scratch),
        proximity_(proximity),
        collector_(collector),
        has_wholes_(!query.whole.matches.empty()),
        filter_(plan.filter, *view_.segment),
        evaluator_(&query, segment, needs, scratch) {}

  // A score that so many matches are known to reach before any is evaluated; 0 where nothing is known.
  float SeedBar(size_t wanted) {
    const SpanUnion* spans = evaluator_.spans();
    return spans == nullptr || IsRestricted() || plan_.minimum_score > 0 ? 0 : spans->SeedBar(wanted);
  }

  // How many matches there are, where that can be had without windows.
  std::optional<uint64_t> Count() {
    return filter_.passes_all() ? evaluator_.Count(view_.deletions) : std::nullopt;
  }

  // Calls visit(window, window number) for every window that has any.
  template <typename Visit>
  void ForEachWindow(Visit&& visit) {
    ForEachWindow(0, evaluator_.window_count(), visit);
  }

  // The same for a conjunction whose hits are wanted in the order of scores, where nothing asks for windows: false if that is
  // not so. Calls count(matches) and collect(scored documents).
  template <typename Count, typename CollectScored>
  bool ForEachConjunction(Count&& count, CollectScored&& collect) {
    ConjunctionEvaluator* conjunction = evaluator_.conjunction();
    if (conjunction == nullptr || !filter_.passes_all() || plan_.minimum_score > 0) return false;
    // A bar would leave out documents that are hits for a field that is the query.
    while (conjunction->NextMatches(has_wholes_ ? 0 : bar())) {
      live_.clear();
      for (size_t i = 0; i < conjunction->documents().size(); ++i) {
        const uint32_t document = conjunction->documents()[i];
        if (view_.deletions.deleted_count > 0 && view_.deletions.Contains(document)) continue;
        const float bonus = proximity_->empty() ? 0 : proximity_->BoundOf(segment_, document);
        live_.push_back({document, conjunction->scores()[i], bonus});
      }
      count(static_cast<uint32_t>(live_.size()));
      collect(std::span<const ScoredDocument>(live_));
    }
    return true;
  }

  // The same for a union whose hits are wanted in the order of scores. Of what is evaluated as a span of windows,
  // collect(scored documents) comes instead, and count(matches), or count_window(window) for each where `by_window`.
  template <typename Visit, typename Count, typename CountWindow, typename CollectScored>
  void ForEachSpan(bool by_window, Visit&& visit, Count&& count, CountWindow&& count_window, CollectScored&& collect) {
    SpanUnion* spans = evaluator_.spans();
    if (spans == nullptr || plan_.minimum_score > 0) return ForEachWindow(visit);
    for (uint32_t first = 0; first < evaluator_.window_count();) {
      StopNowIfAsked();
      const WindowRange range = spans->Range(first);
      const uint32_t end = (range.end + kWindowSize - 1) / kWindowSize;
      if (spans->IsSparse(bar())) {
        // Where few pass, those that do are known first; else only what may be a hit is looked at.
        const bool restricts_first = IsRestricted() && (needs_.all_matches || !MostPass());
        const bool needs_matches = needs_.all_matches || restricts_first;
        spans->Match(range, needs_matches, needs_.all_matches);
        if (needs_matches) RemoveDeletedOfSpan(spans, first, end);
        if (by_window || restricts_first) {
          for (uint32_t window = first; window < end; ++window) {
            StopIfAsked();
            count_window(RestrictMatches(spans, window));
          }
        } else if (needs_.all_matches) {
          count(spans->CountMatches());
        }
        collect(needs_matches ? spans->Score(bar()) : Passing(spans->Score(bar())));
      } else {
        ForEachWindow(first, end, visit);
      }
      first = end;
    }
  }

 private:
  float bar() const {
    if (!needs_.scores || collector_ == nullptr) return 0;
    return plan_.minimum_score > 0 ? std::min(plan_.minimum_score, collector_->bar()) : collector_->bar();
  }

  // Something may be taken from what the words match.
  bool IsRestricted() const { return evaluator_.excludes() || !filter_.passes_all(); }

  void RemoveDeletedOfSpan(SpanUnion* spans, uint32_t begin, uint32_t end) {
    if (view_.deletions.deleted_count == 0) return;
    for (uint32_t window = begin; window < end; ++window) {
      const auto& chunk = view_.deletions.chunks[window];
      if (chunk) spans->RemoveMatches(evaluator_.RangeOf(window), chunk->data());
    }
  }

  // Of the documents that were looked at one by one, not too few have passed.
  bool MostPass() const {
    constexpr uint64_t kTestedMin = 64;
    constexpr uint64_t kFewShare = 8;
    return tested_ < kTestedMin || passed_ * kFewShare > tested_;
  }

  // Those that are not deleted, excluded, or filtered out.
  std::span<const ScoredDocument> Passing(std::span<const ScoredDocument> documents) {
    if (view_.deletions.deleted_count == 0 && !IsRestricted()) return documents;
    live_.clear();
    Window& window = scratch_->window;
    for (size_t begin = 0, end = 0; begin < documents.size(); begin = end) {
      window.range = evaluator_.RangeOf(documents[begin].document / kWindowSize);
      window.matches.Clear();
      for (; end < documents.size() && documents[end].document < window.range.end; ++end) {
        window.matches.Add(documents[end].document - window.range.base);
      }
      RemoveDeletedFrom(&window, view_.deletions);
      evaluator_.Exclude(&window);
      filter_.Apply(&window);
      for (size_t i = begin; i < end; ++i) {
        if (window.matches.Contains(documents[i].document - window.range.base)) live_.push_back(documents[i]);
      }
    }
    tested_ += documents.size();
    passed_ += live_.size();
    return live_;
  }

  template <typename Visit>
  void ForEachWindow(uint32_t begin, uint32_t end, Visit&& visit) {
    for (uint32_t index = evaluator_.NextWindow(begin, bar()); index < end;
         index = evaluator_.NextWindow(index + 1, bar())) {
      StopIfAsked();
      Window* window = evaluator_.Evaluate(index, bar());
      RemoveDeletedFrom(window, view_.deletions);
      const float minimum = plan_.minimum_score;
      if (minimum > 0) RemoveBelow(minimum - proximity_->BoundIn(segment_, window->range), window);
      filter_.Apply(window);
      if (minimum > 0 && !proximity_->empty()) RemoveBelowWithBonus(minimum, segment_, proximity_, window);
      if (window->matches.Any()) visit(*window, index);
    }
  }

  const Window& RestrictMatches(SpanUnion* spans, uint32_t index) {
    Window& window = scratch_->window;
    window.range = evaluator_.RangeOf(index);
    spans->LoadMatches(&window);
    evaluator_.Exclude(&window);
    filter_.Apply(&window);
    spans->StoreMatches(window);
    return window;
  }

  const QueryPlan& plan_;
  uint32_t segment_;
  const SegmentView& view_;
  EvaluationNeeds needs_;
  EvaluatorScratch* scratch_;
  ProximityScorer* proximity_;
  const HitCollector* collector_;
  bool has_wholes_;  // documents may have a field that is the query
  ColumnFilter filter_;
  SegmentEvaluator evaluator_;
  std::vector<ScoredDocument> live_;
  uint64_t tested_ = 0;  // documents that Passing was asked about
  uint64_t passed_ = 0;  // of these, those that it let pass
};

class Searcher {
 public:
  Searcher(const Generation& generation, const QueryPlan& plan, ThreadScratch* scratch)
      : generation_(generation),
        plan_(plan),
        scratch_(scratch),
        query_(PrepareQuery(generation, plan, plan.size > 0 || plan.minimum_score > 0)),
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
    SegmentSearch search(query_, plan_, segment, needs_, &scratch_->matching, &proximity_, &collector_);
    if (!collector_.wants_hits() && facets_.empty()) {
      if (const auto count = search.Count()) {
        total_ += *count;
        return;
      }
    }
    if (collector_.is_by_score()) {
      collector_.SeedBar(search.SeedBar(collector_.wanted()));
      const auto count = [&](uint32_t matches) { total_ += matches; };
      const auto collect = [&](std::span<const ScoredDocument> scored) { collector_.CollectScored(scored); };
      if (!facets_.empty() || !search.ForEachConjunction(count, collect)) {
        search.ForEachSpan(!facets_.empty(), consume, count, count_window, collect);
      }
    } else {
      search.ForEachWindow(consume);
    }
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
    StopNowIfAsked();
    if (!query.MayMatch(segment)) continue;
    const uint32_t* record_numbers = generation.segments[segment].segment->record_numbers().data();
    const auto consume = [&](const Window& window, uint32_t) {
      ForEachBit(window.matches,
                 [&](uint32_t offset) { numbers.push_back(record_numbers[window.range.base + offset]); });
    };
    SegmentSearch(query, plan, segment, {.scores = plan.minimum_score > 0}, &(*scratch).matching, &proximity, nullptr)
        .ForEachWindow(consume);
  }
  scratch.Return();
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gannet
