// The longer words of a generation that a word begins or ends (vocabulary/compounds.h).
//
// In languages that join words, the rest has to be a word of the generation, too, in whatever form, or to have one of some letters beside the
// word: Zeile finds Datumszeile where there is Datum, and Ente no Elemente.
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

// Whose rests are looked at for one word, the most frequent first.
inline constexpr size_t kCompoundsJudgedMax = 512;

// The `limit` most frequent of them, by document frequency descending, then term. `left_out` are in byte order. Error(kDamaged).
std::vector<TermMatch> FindCompoundTerms(const Generation& generation, const std::string& word,
                                         const std::vector<TermMatch>& left_out, size_t limit);

// FindAffected of the generation's vocabulary, and of words whose longer ones are so by a word that came or went.
std::vector<bool> FindAffectedWords(const Generation& generation, std::span<const std::string> words,
                                    std::span<const uint32_t> edits, std::span<const uint64_t> names);

}  // namespace gannet
