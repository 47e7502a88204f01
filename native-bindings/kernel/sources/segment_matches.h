// Evaluates the matches of a segment, after deletions, filter and minimum score, in the cheapest way for what is needed
// of them.
//
// Thread-safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "../common/stop.h"
#include "../evaluation/segment_evaluator.h"
#include "../filter/column_filter.h"
#include "window_removals.h"

namespace gannet {

// In which form matches are delivered.
enum class Way : uint8_t {
  kCount,      // only their number
  kDocuments,  // one by one, with scores
  kSpans,      // with scores, for many windows at a time if postings are few; else window by window
  kWindows,    // window by window
};

class SegmentMatches {
 public:
  // `*bar` is the bar of the collector (SegmentEvaluator), which may rise meanwhile. Null: no document is left out
  // because of a bar.
  SegmentMatches(const PreparedQuery& query, const QueryPlan& plan, uint32_t segment, EvaluationNeeds needs,
                 EvaluatorScratch* scratch, ProximityScorer* proximity, const float* bar)
      : plan_(plan),
        segment_(segment),
        view_(query.generation->segments[segment]),
        needs_(needs),
        scratch_(scratch),
        proximity_(proximity),
        bar_(bar),
        has_wholes_(!query.whole.matches.empty()),
        filter_(plan.filter, *view_.segment, FilterUse::kAgain),
        evaluator_(&query, segment, needs, scratch) {}

  // Returns the cheapest way that the strategy allows. `counts_alone`: neither hits nor facets are wanted; `by_score`:
  // hits are wanted in the order of scores; `has_facets`: facets are wanted.
  Way ChooseWay(bool counts_alone, bool by_score, bool has_facets) const {
    const Strategy strategy = evaluator_.strategy();
    if (counts_alone && filter_.passes_all() && evaluator_.CanCount()) return Way::kCount;
    if (!by_score || plan_.minimum_score > 0) return Way::kWindows;
    if (strategy == Strategy::kByDocument && filter_.passes_all() && !has_facets) return Way::kDocuments;
    return strategy == Strategy::kUnionBySpan ? Way::kSpans : Way::kWindows;
  }

  // kSpans: returns a score that `wanted` matches are known to reach before any is evaluated; 0 if none is known.
  float SeedBar(size_t wanted) { return IsRestricted() ? 0 : evaluator_.spans().SeedBar(wanted); }
  // The same for `wanted` owners of matches.
  float SeedBar(size_t wanted, const OwnerOf& owner_of) { return IsRestricted() ? 0 : evaluator_.spans().SeedBar(wanted, owner_of); }

  // kCount: returns the number of matches.
  uint64_t Count() { return evaluator_.Count(view_.deletions); }

  // kWindows, and in general: calls visit(window, window number) for every window that has matches.
  template <typename Visit>
  void ForEachWindow(Visit&& visit) {
    ForEachWindow(0, evaluator_.window_count(), visit);
  }

  // kDocuments: calls count(matches) and collect(scored documents).
  template <typename Count, typename CollectScored>
  void ForEachDocument(Count&& count, CollectScored&& collect) {
    ConjunctionEvaluator& conjunction = evaluator_.conjunction();
    // A bar would leave out documents that are hits because of a field that is the query.
    while (conjunction.NextMatches(has_wholes_ ? 0 : bar())) {
      live_.clear();
      for (size_t i = 0; i < conjunction.documents().size(); ++i) {
        const uint32_t document = conjunction.documents()[i];
        if (view_.deletions.deleted_count > 0 && view_.deletions.Contains(document)) continue;
        const float bonus = proximity_->empty() ? 0 : proximity_->BoundOf(segment_, document);
        live_.push_back({document, conjunction.scores()[i], bonus});
      }
      count(static_cast<uint32_t>(live_.size()));
      collect(std::span<const ScoredDocument>(live_));
    }
  }

  // kSpans: calls visit as ForEachWindow does. For what is evaluated as a span of windows, calls collect(scored
  // documents) instead, and count(matches), or count_window(window) per window if `by_window`.
  template <typename Visit, typename Count, typename CountWindow, typename CollectScored>
  void ForEachSpan(bool by_window, Visit&& visit, Count&& count, CountWindow&& count_window, CollectScored&& collect) {
    SpanUnion* spans = &evaluator_.spans();
    for (uint32_t first = 0; first < evaluator_.window_count();) {
      StopNowIfAsked();
      const WindowRange range = spans->Range(first);
      const uint32_t end = (range.end + kWindowSize - 1) / kWindowSize;
      if (spans->IsSparse(bar())) {
        // If few documents pass, the passing ones are determined first; else only possible hits are tested.
        const bool restricts_first = IsRestricted() && (needs_.all_matches || !MostPass());
        const bool needs_matches = needs_.all_matches || restricts_first;
        spans->Match(range, needs_matches, needs_.all_matches);
        if (needs_matches) RemoveDeletedOfSpan(spans, first, end);
        if (by_window || restricts_first) {
          for (uint32_t window = first; window < end; ++window) {
            StopIfAsked();
            count_window(IsRestricted() ? RestrictMatches(spans, window) : LoadMatches(*spans, window));
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
    if (!needs_.scores || bar_ == nullptr) return 0;
    return plan_.minimum_score > 0 ? std::min(plan_.minimum_score, *bar_) : *bar_;
  }

  // True if documents may be removed from what the words match.
  bool IsRestricted() const { return evaluator_.excludes() || !filter_.passes_all(); }

  void RemoveDeletedOfSpan(SpanUnion* spans, uint32_t begin, uint32_t end) {
    if (view_.deletions.deleted_count == 0) return;
    for (uint32_t window = begin; window < end; ++window) {
      const auto& chunk = view_.deletions.chunks[window];
      if (chunk) spans->RemoveMatches(evaluator_.RangeOf(window), chunk->data());
    }
  }

  // Returns false if too few of the documents that were tested one by one have passed.
  bool MostPass() const {
    constexpr uint64_t kTestedMin = 64;
    constexpr uint64_t kFewShare = 8;
    return tested_ < kTestedMin || passed_ * kFewShare > tested_;
  }

  // Returns those that are not deleted, excluded or filtered out.
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

  Window& LoadMatches(const SpanUnion& spans, uint32_t index) {
    Window& window = scratch_->window;
    window.range = evaluator_.RangeOf(index);
    spans.LoadMatches(&window);
    return window;
  }

  const Window& RestrictMatches(SpanUnion* spans, uint32_t index) {
    Window& window = LoadMatches(*spans, index);
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
  const float* bar_;
  bool has_wholes_;  // documents may have a field that is the query
  ColumnFilter filter_;
  SegmentEvaluator evaluator_;
  std::vector<ScoredDocument> live_;
  uint64_t tested_ = 0;  // number of documents given to Passing
  uint64_t passed_ = 0;  // number of these that passed
};

}  // namespace gannet
