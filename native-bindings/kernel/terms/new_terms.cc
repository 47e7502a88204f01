#include "new_terms.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../analysis/analyzer.h"

namespace gannet {
namespace {

// Returns the segments, largest first: the largest has most terms, so that most terms are found with one look-up.
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
  const uint32_t hash = HashTerm(term);
  return std::ranges::any_of(segments, [&](const Segment* segment) { return !segment->FindEntry(term, hash).empty(); });
}

}  // namespace

std::optional<std::vector<std::string>> FindNewTerms(const Generation& generation, const Segment& segment) {
  if (segment.meta().term_count > kSoughtTermsMax) return std::nullopt;
  const std::vector<const Segment*> segments = SegmentsOf(generation, {});
  std::vector<std::string> found;
  const auto terms = segment.Terms({});
  while (terms->Next()) {
    // The stored key of a long term cannot be looked up by itself.
    if (!IsWholeTerm(terms->term())) return std::nullopt;
    if (IsIn(segments, terms->term())) continue;
    if (found.size() == kNewTermsMax) return std::nullopt;
    found.emplace_back(terms->term());
  }
  return found;
}

std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources,
                                                      std::span<const std::string> terms) {
  if (terms.size() > kLostTermsMax) return std::nullopt;
  const std::vector<const Segment*> segments = SegmentsOf(generation, sources);
  std::vector<std::string> lost;
  for (const std::string& term : terms) {
    if (!IsWholeTerm(term)) return std::nullopt;
    if (IsIn(segments, term)) continue;
    if (lost.size() == kNewTermsMax) return std::nullopt;
    lost.push_back(term);
  }
  return lost;
}

std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources) {
  uint64_t count = 0;
  for (const MergeSource& source : sources) count += source.segment->meta().term_count;
  if (count > kSoughtTermsMax) return std::nullopt;
  std::set<std::string> all;
  for (const MergeSource& source : sources) {
    for (const auto terms = source.segment->Terms({}); terms->Next();) all.emplace(terms->term());
  }
  const std::vector<std::string> terms(all.begin(), all.end());
  return FindLostTerms(generation, sources, terms);
}

}  // namespace gannet
