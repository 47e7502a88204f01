// Finds terms that begin or end with a word: compounds, and words of scripts without blanks that a dictionary left
// whole.
//
// In scripts without blanks, a dictionary decides where a word ends, and takes 東京タワー for one word; Korean writes
// particles and the parts of a name together; German, Dutch, the Nordic languages, Finnish and Hungarian join several
// words into one. A search for a part also means the whole. A segment has its terms in both orders already
// (spelling_index.h): those that begin with a word are a range of one order, and those that end with it a range of the
// other.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spelling_index.h"

namespace gannet {

// Maximum number of terms of a segment that are examined in each of the two orders; the rest of the range is ignored.
inline constexpr uint32_t kCompoundTermsVisitedMax = 1024;
// Minimum length, in characters, of a part that is only the beginning (or end) of the rest.
inline constexpr uint32_t kInnerPartMin = 5;

// How long the rest of a term must be for the term to count as a compound of the word.
struct CompoundRule {
  // In characters; 0 if no terms are searched for this word.
  uint32_t rest_min = 0;
  // True if the rest must consist of words of the list, because short words are at the end of others by chance (Ente,
  // Elemente).
  bool is_of_words = false;
  explicit operator bool() const { return rest_min > 0; }
};

// The part of a longer word beside the word.
struct CompoundRest {
  std::string_view text;
  bool is_before;  // true if the longer word ends with the word
};

// Returns the rule for a word. `word` is a folded term; `language` a BCP 47 primary tag.
CompoundRule CompoundRuleFor(std::string_view word, std::string_view language);

// Returns true if the term begins or ends with the word and the rest is as long as the rule requires.
bool IsCompound(std::string_view term, std::string_view word, CompoundRule rule);

// Returns the rest, and the rest without each of the letters that join words (Datum-s-zeile), if it is long enough. At
// most 16.
std::vector<CompoundRest> RestsOf(std::string_view term, std::string_view word, CompoundRule rule);

// Returns true if the rest has the part next to the word: at its beginning, or at its end if the rest precedes the
// word.
bool HasAtJoint(const CompoundRest& rest, std::string_view part);

// Returns the numbers of the terms for which IsCompound is true, each once. Throws Error(kDamaged).
std::vector<uint32_t> FindCompounds(const SpellingIndex& index, std::string_view word, CompoundRule rule);

}  // namespace gannet
