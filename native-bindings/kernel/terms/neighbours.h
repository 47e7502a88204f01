// Tells whether two words stand next to each other anywhere in a generation.
//
// Thread-safety: pure functions of immutable data; answers about a large segment are kept in its cache, since searches
// of a list that is written to ask again after each write.
#pragma once

#include <string_view>

#include "../generation/generation.h"

namespace gannet {

// Returns true if a document, possibly a deleted one, has `left` directly before `right`, as a phrase of a query would
// match. Stops at the first such document. Words are folded.
bool AreNeighbours(const Generation& generation, std::string_view left, std::string_view right);

}  // namespace gannet
