// Finds the longer words of a generation that begin or end with a word (vocabulary/compounds.h).
//
// In languages that join words, the rest must also be a word of the generation in some form, or must have, next to the
// word, a part of several letters that is one: Zeile finds Datumszeile if there is Datum, and Ente does not find
// Elemente.
//
// Thread-safety: pure functions of immutable data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../generation/generation.h"
#include "term_lookup.h"

namespace gannet {

// Maximum number of longer words whose rests are examined for one word; the most frequent ones are taken.
inline constexpr size_t kCompoundsJudgedMax = 512;

// Returns the `limit` most frequent longer words, by document frequency descending, then term. `left_out` must be in
// byte order. Throws Error(kDamaged).
std::vector<TermMatch> FindCompoundTerms(const Generation& generation, const std::string& word,
                                         const std::vector<TermMatch>& left_out, size_t limit);

// As FindAffected for the generation's vocabulary; also true for words that may gain or lose longer words because a
// term that makes up their rest appeared or disappeared.
std::vector<bool> FindAffectedWords(const Generation& generation, std::span<const std::string> words,
                                    std::span<const uint32_t> edits, std::span<const uint64_t> names);

}  // namespace gannet
