// Finds terms in a generation's dictionaries that a partly typed word may become.
//
// Thread-safety: functions of immutable data and of the segments' caches, which lock internally.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "term_lookup.h"

namespace gannet {

// Maximum number of terms of a segment that are examined for one word; the rest of the dictionary, in byte order, is
// ignored. Terms that share a beginning from which the word cannot be reached are skipped without being examined.
inline constexpr uint32_t kCompletionTermsVisitedMax = 65536;
// Maximum number of completions per call.
inline constexpr size_t kCompletionsMax = 64;

// Returns the first `limit` <= kCompletionsMax terms that begin with `prefix` except for at most `edits` <=
// kFuzzyDistanceMax edits, the prefix itself included; sorted by distance, then document frequency descending, then
// term. With edits, only terms with the prefix's first letter are examined: a wrong first letter is rare, and the other
// terms are many. A term that is not among the most frequent ones of any segment may be missing. Terms too long to be
// stored whole are left out.
std::vector<TermMatch> CompleteWord(const Generation& generation, std::string_view prefix, uint32_t edits,
                                    size_t limit);

}  // namespace gannet
