#include "whole_field.h"

#include <algorithm>

namespace gannet {
namespace {

// Returns the documents found, from `target` on.
std::span<const WholeFieldMatch> MatchesFrom(const PreparedQuery& query, uint32_t segment, uint32_t target) {
  if (query.whole.matches.empty()) return {};
  const std::vector<WholeFieldMatch>& matches = *query.whole.matches[segment];
  return {std::ranges::lower_bound(matches, target, {}, &WholeFieldMatch::document), matches.end()};
}

}  // namespace

uint32_t NextWholeField(const PreparedQuery& query, uint32_t segment, uint32_t target) {
  const std::span<const WholeFieldMatch> matches = MatchesFrom(query, segment, target);
  return matches.empty() ? kNoDocument : matches.front().document;
}

std::span<const WholeFieldMatch> WholeFieldsIn(const PreparedQuery& query, uint32_t segment, WindowRange range) {
  const std::span<const WholeFieldMatch> matches = MatchesFrom(query, segment, range.base);
  return {matches.begin(), std::ranges::lower_bound(matches, range.end, {}, &WholeFieldMatch::document)};
}

void AddWholeFields(const PreparedQuery& query, uint32_t segment, WindowRange range, WindowBits* bits) {
  for (const WholeFieldMatch& match : WholeFieldsIn(query, segment, range)) bits->Add(match.document - range.base);
}

bool HasWholeField(const PreparedQuery& query, uint32_t segment, WindowRange range) {
  return NextWholeField(query, segment, range.base) < range.end;
}

}  // namespace gannet
