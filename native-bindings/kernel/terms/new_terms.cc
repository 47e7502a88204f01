#include "new_terms.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "../analysis/analyzer.h"

namespace gannet {
namespace {

// The largest first: it has most terms, so that most are looked up once.
std::vector<const Segment*> SegmentsOf(const Generation& generation, std::span<const MergeSource> besides) {
  std::vector<const Segment*> segments;
  for (const SegmentView& view : generation.segments) {
    const auto is_it = [&](const MergeSource& source) { return source.segment == view.segment; };
    if (std::ranges::none_of(besides, is_it)) segments.push_back(view.segment.get());
  }
  std::ranges::sort(segments, std::ranges::greater(), [](const Segment* segment) { return segment->document_count(); });
  return segments;
}

bool IsIn(const std::vector<const Segment*>& segments, std::string_view term) {
  return std::ranges::any_of(segments, [&](const Segment* segment) { return !segment->FindEntry(term).empty(); });
}

}  // namespace

std::optional<std::vector<std::string>> FindNewTerms(const Generation& generation, const Segment& segment) {
  if (segment.meta().term_count > kSoughtTermsMax) return std::nullopt;
  const std::vector<const Segment*> segments = SegmentsOf(generation, {});
  std::vector<std::string> found;
  const auto terms = segment.Terms({});
  while (terms->Next()) {
    // What stands for a long term is not looked up by itself.
    if (!IsWholeTerm(terms->term())) return std::nullopt;
    if (IsIn(segments, terms->term())) continue;
    if (found.size() == kNewTermsMax) return std::nullopt;
    found.emplace_back(terms->term());
  }
  return found;
}

bool HasElsewhere(const Generation& generation, std::span<const MergeSource> besides, std::span<const std::string> terms) {
  const std::vector<const Segment*> segments = SegmentsOf(generation, besides);
  return std::ranges::all_of(terms, [&](const std::string& term) { return IsWholeTerm(term) && IsIn(segments, term); });
}

}  // namespace gannet
