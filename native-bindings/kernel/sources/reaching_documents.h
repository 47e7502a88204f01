// Finds the documents of a window of words that may reach a score with their possible bonus.
//
// Thread-safety: that of the scorer.
#pragma once

#include <cstdint>

#include "../bonus/proximity_scorer.h"
#include "../window/selection.h"
#include "../window/window.h"

namespace gannet {

// Calls visit(document, score without bonus, most that the bonus can be) in ascending order. The window must have been
// evaluated with scores.
template <typename Visit>
void ForEachReaching(const Window& window, uint32_t segment, float least, const ProximityScorer& proximity, Visit&& visit) {
  uint64_t reaching[kWindowWords];
  CompareWords(window.scores, least, window.matches.used, reaching);
  const WindowBits& candidates = window.bonus_candidates;
  if (!proximity.empty()) {
    uint64_t with_bonus[kWindowWords];
    const uint64_t used = candidates.used & window.matches.used;
    CompareWords(window.scores, least - proximity.BoundIn(segment, window.range), used, with_bonus);
    ForEachWord(used, [&](uint32_t word) { reaching[word] |= with_bonus[word] & candidates.words[word]; });
  }
  ForEachWord(window.matches.used, [&](uint32_t word) {
    ForEachBit(window.matches.words[word] & reaching[word], word * 64, [&](uint32_t offset) {
      const uint32_t document = window.range.base + offset;
      const bool may_have_bonus = !proximity.empty() && candidates.Contains(offset);
      visit(document, window.scores[offset], may_have_bonus ? proximity.BoundOf(segment, document) : 0.0f);
    });
  });
}

}  // namespace gannet
