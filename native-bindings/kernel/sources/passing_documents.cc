#include "passing_documents.h"

#include <algorithm>
#include <span>

#include "../common/stop.h"
#include "../evaluation/segment_evaluator.h"

namespace gannet {
namespace {

QueryPlan ExcludingGroups(const QueryPlan& plan) {
  QueryPlan excluding;
  std::ranges::copy_if(plan.groups, std::back_inserter(excluding.groups),
                       [](const PlanGroup& group) { return group.occur == Occur::kMustNot; });
  return excluding;
}

}  // namespace

std::vector<uint64_t> FindPassing(const SegmentView& view, const ColumnFilter& filter) {
  const uint32_t documents = view.segment->document_count();
  std::vector<uint64_t> passing((documents + kWindowSize - 1) / kWindowSize * size_t{kWindowWords});
  Window window;
  for (uint32_t base = 0; base < documents; base += kWindowSize) {
    StopIfAsked();
    window.range = {base, std::min(base + kWindowSize, documents)};
    window.matches.Clear();
    window.matches.AddRange(0, window.range.end - base);
    if (const auto& deleted = view.deletions.chunks[base / kWindowSize]) window.matches.Subtract(deleted->data());
    filter.Apply(&window);
    std::copy_n(window.matches.words, kWindowWords, &passing[base / 64]);
  }
  return passing;
}

PassingDocuments::PassingDocuments(const Generation* generation, const QueryPlan& plan)
    : generation_(*generation), filter_(plan.filter), excluding_(ExcludingGroups(plan)) {
  if (!excluding_.groups.empty()) query_ = PrepareQuery(generation_, excluding_, false);
}

std::vector<uint64_t> PassingDocuments::In(uint32_t segment) const {
  const SegmentView& view = generation_.segments[segment];
  std::vector<uint64_t> passing = FindPassing(view, ColumnFilter(filter_, *view.segment));
  if (excluding_.groups.empty()) return passing;
  const auto scratch = std::make_unique<EvaluatorScratch>();
  SegmentEvaluator evaluator(&query_, segment, {.scores = false}, scratch.get());
  Window window;
  for (uint32_t index = 0; index < evaluator.window_count(); ++index) {
    StopIfAsked();
    const std::span<uint64_t> words = std::span(passing).subspan(index * size_t{kWindowWords}, kWindowWords);
    window.range = evaluator.RangeOf(index);
    window.matches.used = ~uint64_t{0};
    std::ranges::copy(words, window.matches.words);
    evaluator.Exclude(&window);
    std::copy_n(window.matches.words, kWindowWords, words.begin());
  }
  return passing;
}

}  // namespace gannet
