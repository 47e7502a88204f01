#include "compounds.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "../analysis/unicode_data.h"
#include "../analysis/utf8.h"
#include "../common/stop.h"

namespace gannet {
namespace {

// Languages that write compounds as one word.
constexpr std::array<std::string_view, 13> kJoiningLanguages = {"de", "nl", "sv", "da", "no", "nb", "nn",
                                                                "is", "fo", "af", "fi", "et", "hu"};
// Letters between two words of a compound, longer ones before shorter.
constexpr std::array<std::string_view, 7> kJoiningLetters = {"ens", "es", "en", "er", "s", "n", "e"};
// Shorter parts begin or end too many words by chance.
constexpr uint32_t kJoinedLettersMin = 4;
constexpr uint32_t kJoinedRestMin = 3;
// Words with this many letters are not in others by chance: the rest need not be a word of the list, which a short list
// seldom has.
constexpr uint32_t kUnmistakableLettersMin = 8;
constexpr uint32_t kIdeographsMin = 2;
constexpr uint32_t kSyllablesMin = 2;
constexpr uint32_t kKanaMin = 3;
// Letters of Thai, Lao, Khmer and Myanmar; a syllable has several.
constexpr uint32_t kComplexLettersMin = 4;
constexpr uint32_t kComplexRestMin = 2;

enum class Script : uint8_t { kIdeographs, kKana, kComplex, kHangul, kLetters, kOther };

bool IsHiragana(uint32_t code) { return code >= 0x3041 && code <= 0x309f; }

Script ScriptOf(uint32_t code) {
  switch (TraitsOf(code).word_class()) {
    case WordClass::kIdeograph:
      return IsHiragana(code) ? Script::kKana : Script::kIdeographs;
    case WordClass::kKatakana:
      return Script::kKana;
    case WordClass::kComplex:
      return Script::kComplex;
    case WordClass::kHangul:
      return Script::kHangul;
    case WordClass::kLetter:
      return Script::kLetters;
    default:
      return Script::kOther;
  }
}

bool IsMark(uint32_t code) { return TraitsOf(code).word_class() == WordClass::kExtend; }

struct Letters {
  uint32_t count = 0;
  Script script = Script::kOther;  // Han if Han and kana occur together
  bool is_mixed = false;
};

Letters LettersOf(std::string_view word) {
  Letters letters;
  for (size_t at = 0; at < word.size(); ++letters.count) {
    const auto [code, length] = DecodeUtf8(word.data() + at, word.size() - at);
    at += length;
    if (IsMark(code) && letters.count > 0) continue;
    const Script script = ScriptOf(code);
    if (letters.count == 0) {
      letters.script = script;
    } else if (letters.script != script) {
      const auto is_japanese = [](Script one) { return one == Script::kIdeographs || one == Script::kKana; };
      letters.is_mixed |= !is_japanese(script) || !is_japanese(letters.script);
      letters.script = Script::kIdeographs;
    }
  }
  return letters;
}

// Returns true if the word ends here, and not between a letter and its mark.
bool EndsBefore(std::string_view rest) { return !IsMark(DecodeUtf8(rest.data(), rest.size()).code); }

bool Begins(std::string_view term, std::string_view word, CompoundRule rule) {
  if (!term.starts_with(word) || term.size() == word.size()) return false;
  const std::string_view rest = term.substr(word.size());
  return CountCharacters(rest) >= rule.rest_min && EndsBefore(rest);
}

bool Ends(std::string_view term, std::string_view word, CompoundRule rule) {
  return term.ends_with(word) && CountCharacters(term.substr(0, term.size() - word.size())) >= rule.rest_min;
}

bool IsBeforeBackwards(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend(),
                                      [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
}

// Returns the first index in an order of `size` terms for which `is_before` is false.
template <typename IsBefore>
uint32_t FirstPlace(uint32_t size, IsBefore is_before) {
  uint32_t low = 0;
  uint32_t high = size;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (is_before(middle)) low = middle + 1; else high = middle;
  }
  return low;
}

}  // namespace

CompoundRule CompoundRuleFor(std::string_view word, std::string_view language) {
  const Letters letters = LettersOf(word);
  if (letters.is_mixed || letters.count > kSpellingCharactersMax) return {};
  const auto from = [&](uint32_t count, uint32_t rest) { return CompoundRule{letters.count >= count ? rest : 0, false}; };
  switch (letters.script) {
    case Script::kIdeographs:
      return from(kIdeographsMin, 1);
    case Script::kHangul:
      return from(kSyllablesMin, 1);
    case Script::kKana:
      return from(kKanaMin, 1);
    case Script::kComplex:
      return from(kComplexLettersMin, kComplexRestMin);
    case Script::kLetters: {
      const bool is_joining = std::ranges::find(kJoiningLanguages, language) != kJoiningLanguages.end();
      if (!is_joining || letters.count < kJoinedLettersMin) return {};
      return {kJoinedRestMin, letters.count < kUnmistakableLettersMin};
    }
    default:
      return {};
  }
}

bool IsCompound(std::string_view term, std::string_view word, CompoundRule rule) {
  return rule && (Begins(term, word, rule) || Ends(term, word, rule));
}

std::vector<CompoundRest> RestsOf(std::string_view term, std::string_view word, CompoundRule rule) {
  std::vector<CompoundRest> rests;
  const auto add = [&](std::string_view rest, bool is_before) {
    if (CountCharacters(rest) >= rule.rest_min) rests.push_back({rest, is_before});
  };
  if (Begins(term, word, rule)) {
    const std::string_view rest = term.substr(word.size());
    add(rest, false);
    for (const std::string_view joint : kJoiningLetters) {
      if (rest.starts_with(joint)) add(rest.substr(joint.size()), false);
    }
  }
  if (Ends(term, word, rule)) {
    const std::string_view rest = term.substr(0, term.size() - word.size());
    add(rest, true);
    for (const std::string_view joint : kJoiningLetters) {
      if (rest.ends_with(joint)) add(rest.substr(0, rest.size() - joint.size()), true);
    }
  }
  return rests;
}

bool HasAtJoint(const CompoundRest& rest, std::string_view part) {
  return rest.is_before ? rest.text.ends_with(part) : rest.text.starts_with(part);
}

std::vector<uint32_t> FindCompounds(const SpellingIndex& index, std::string_view word, CompoundRule rule) {
  std::vector<uint32_t> found;
  if (!rule) return found;
  const uint32_t size = index.size();
  uint32_t place = FirstPlace(size, [&](uint32_t at) { return index.term(at) < word; });
  for (uint32_t visited = 0; place < size && visited < kCompoundTermsVisitedMax; ++place, ++visited) {
    StopIfAsked();
    const std::string_view term = index.term(place);
    if (!term.starts_with(word)) break;
    if (IsCompound(term, word, rule)) found.push_back(place);
  }
  place = FirstPlace(size, [&](uint32_t at) { return IsBeforeBackwards(index.backward_term(at), word); });
  for (uint32_t visited = 0; place < size && visited < kCompoundTermsVisitedMax; ++place, ++visited) {
    StopIfAsked();
    const std::string_view term = index.backward_term(place);
    if (!term.ends_with(word)) break;
    if (Ends(term, word, rule)) found.push_back(index.backward_number(place));
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

}  // namespace gannet
