// Adds proximity bonuses to gathered hits, best scores first, so that most hits that cannot be among the best even with
// their bonus need not get it.
//
// Not thread-safe: the scorer's cursors move. One call at a time for each scorer.
#pragma once

#include <cstddef>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "hit.h"

namespace gannet {

// Adds the bonuses of all hits that may be among the `wanted` best, and removes the other hits. Hits below `bar` are
// not wanted. Returns the bar that follows from the scores with their bonus, which is not lower.
float AddLateBonuses(ProximityScorer* proximity, size_t wanted, float bar, std::vector<Hit>* hits);

}  // namespace gannet
