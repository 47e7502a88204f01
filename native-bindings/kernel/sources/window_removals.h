// Removes documents from the matches of a window.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>

#include "../bonus/proximity_scorer.h"
#include "../generation/generation.h"
#include "../window/window.h"

namespace gannet {

void RemoveDeletedFrom(Window* window, const DeletionSet& deletions);

void RemoveBelow(float minimum_score, Window* window);

// The same if documents may reach the minimum by their bonus: the bonus is computed only for those.
void RemoveBelowWithBonus(float minimum_score, uint32_t segment, ProximityScorer* proximity, Window* window);

}  // namespace gannet
