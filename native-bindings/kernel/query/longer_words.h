// One posting list of the longer words of a query word (東京タワー of 東京), which together are one alternative of it.
//
// A document that has the word itself has its longer words as well: each of their occurrences counts what its weight says. In one without the
// word, they count for less than one occurrence of it in the field of the least weight, however many there are: so it ranks behind what has the
// word, all else being equal, and before what has fewer longer ones. (docs/decisions/0320)
//
// The list has no positions: what is near what is found by the terms themselves.
//
// Thread-safety: pure functions of immutable data; lists are kept in the segments' caches.
#pragma once

#include "prepared_query.h"

namespace gannet {

// So many are one occurrence of the word in the field of the least weight.
inline constexpr uint32_t kJoinedSteps = 256;

// In each group that scores, puts one alternative in the place of those that are longer words and that any document has. The lists of
// all terms are known. Error(kDamaged).
void JoinLongerWords(PreparedQuery* query);

}  // namespace gannet
