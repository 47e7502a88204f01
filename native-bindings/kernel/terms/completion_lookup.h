// Words of a generation's dictionaries that a word being typed may become.
//
// Thread-safety: functions of immutable data and of the segments' caches, which lock by themselves.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "term_lookup.h"

namespace gannet {

// Terms of a segment that are looked at for one word; the rest of the dictionary, in byte order, is not. Terms that share
// a beginning from which the word cannot be reached are passed over without being looked at.
inline constexpr uint32_t kCompletionTermsVisitedMax = 65536;
// Completions that one call may ask for.
inline constexpr size_t kCompletionsMax = 64;

// The first `limit` <= kCompletionsMax terms that begin with `prefix` but for at most `edits` <= kFuzzyDistanceMax
// edits, the prefix itself included; by distance, then document frequency descending, then term. With edits, only terms
// with the prefix's first letter are looked at: a wrong first letter is rare, and the others are many. Terms that no
// segment has among its own most frequent ones may be missing. Terms too long to be stored whole are left out.
std::vector<TermMatch> CompleteWord(const Generation& generation, std::string_view prefix, uint32_t edits,
                                    size_t limit);

}  // namespace gannet
