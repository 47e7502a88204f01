// Words of a generation's dictionaries that a word being typed may become.
//
// Thread-safety: pure functions of immutable data.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "term_lookup.h"

namespace gannet {

// Terms of a segment that are looked at for one word; the rest of the dictionary, in byte order, is not.
inline constexpr uint32_t kCompletionTermsVisitedMax = 32768;

// The first `limit` terms that begin with `prefix` but for at most `edits` <= kFuzzyDistanceMax edits, the prefix itself
// included; by distance, then document frequency descending, then term. With edits, only terms with the prefix's first
// letter are looked at: a wrong first letter is rare, and the others are many. Terms that no segment has among its
// own most frequent ones may be missing. Terms too long to be stored whole are left out.
std::vector<TermMatch> CompleteWord(const Generation& generation, std::string_view prefix, uint32_t edits,
                                    size_t limit);

}  // namespace gannet
