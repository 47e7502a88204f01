#include "window_removals.h"

#include "../window/selection.h"

namespace gannet {

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

}  // namespace gannet
