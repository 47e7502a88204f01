// Joins the longer words of a query word (東京タワー for 東京) into one posting list, which becomes one alternative of it.
//
// A document that has the word itself also has its longer words: each of their occurrences counts with its weight. In a
// document without the word they count for less than one occurrence of it in the field of the least weight, however
// many there are. So such a document ranks behind those that have the word, all else being equal, and before those with
// fewer longer words. (docs/decisions/0320)
//
// The list has no positions: proximity uses the terms themselves.
//
// Thread-safety: pure functions of immutable data; the lists are cached with the segments.
#pragma once

#include "prepared_query.h"

namespace gannet {

// Number of steps that make one occurrence of the word in the field of the least weight.
inline constexpr uint32_t kJoinedSteps = 256;

// In each group that scores, replaces the alternatives that are longer words and that any document has by one joined
// alternative. The lists of all terms must be known. Throws Error(kDamaged).
void JoinLongerWords(PreparedQuery* query);

}  // namespace gannet
