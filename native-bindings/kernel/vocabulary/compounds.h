// Terms that hold a word at their beginning or end: compounds, and words that a dictionary of a script without blanks left whole.
//
// Where a word of such a script ends is what a dictionary says, which takes 東京タワー for one word; Korean writes particles and the
// parts of a name together; and German, Dutch, the languages of the North, Finnish and Hungarian make one word of several. Whoever looks for a
// part means the whole, too. The terms of a segment are in both orders already (spelling_index.h): those that begin with a word
// are a range of the one, and those that end with it of the other.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spelling_index.h"

namespace gannet {

// Terms of a segment that are looked at, for each of the two orders: the rest of the range, in its order, is not.
inline constexpr uint32_t kCompoundTermsVisitedMax = 1024;
// Of a part that is only the beginning of the rest.
inline constexpr uint32_t kInnerPartMin = 5;

// How much of a term a word and the rest have to be for the term to be looked for.
struct CompoundRule {
  // In characters; 0: the word is no part that others are looked for.
  uint32_t rest_min = 0;
  // Whether the rest has to be made of words of the list: letters are at the end of others by chance (Ente, Elemente).
  bool is_of_words = false;
  explicit operator bool() const { return rest_min > 0; }
};

// What stands beside the word in a longer one.
struct CompoundRest {
  std::string_view text;
  bool is_before;  // the word, which ends the longer one then
};

// `word` is a folded term; `language` a BCP 47 primary tag.
CompoundRule CompoundRuleFor(std::string_view word, std::string_view language);

// Whether the term begins or ends with the word, and the rest is as long as the rule has it.
bool IsCompound(std::string_view term, std::string_view word, CompoundRule rule);

// The rest, and the rest without each of the letters that join words (Datum-s-zeile), where it is long enough. At most 16.
std::vector<CompoundRest> RestsOf(std::string_view term, std::string_view word, CompoundRule rule);

// Whether the rest begins (or ends, where it stands before the word) with the part beside the word.
bool HasAtJoint(const CompoundRest& rest, std::string_view part);

// Numbers of the terms of which IsCompound is true, each once. Error(kDamaged).
std::vector<uint32_t> FindCompounds(const SpellingIndex& index, std::string_view word, CompoundRule rule);

}  // namespace gannet
