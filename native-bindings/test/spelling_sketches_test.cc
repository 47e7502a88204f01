// Sketches against the distances of all terms: they may say yes in vain, and never no.
#include "../kernel/vocabulary/spelling_sketches.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "edit_distance.h"
#include "spelling_dictionary.h"

namespace gannet::test {
namespace {

TEST(spelling_sketches_rule_out_no_term_that_is_near) {
  std::mt19937 random(17);
  static const std::vector<std::vector<std::string>> kAlphabets = {
      {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"},
      {"a", "\x01", "A", "\xd0\xb9", "\xd0\xb8", "\xd1\x88"},        // share a bit, and Cyrillic
      {"\xe0\xb8\x97", "\xe0\xb8\x98", "a", "\xf0\x90\x8d\x88"}};    // characters of three bytes, and of four
  uint32_t ruled_out = 0;
  uint32_t asked = 0;
  for (uint32_t round = 0; round < 300; ++round) {
    const auto& letters = kAlphabets[round % kAlphabets.size()];
    const auto make = [&] {
      std::string word;
      for (uint32_t count = 1 + random() % 12; count > 0; --count) word += letters[random() % letters.size()];
      return word;
    };
    std::set<std::string> terms;
    for (uint32_t count = random() % 6; count > 0; --count) terms.insert(make());
    const SpellingDictionary dictionary(terms);
    const SpellingSketches sketches(dictionary.index);
    for (uint32_t question = 0; question < 40; ++question) {
      const std::string word = make();
      const uint32_t edits = 1 + random() % kSpellingEditsMax;
      const bool may_have_near = sketches.MayHaveNear(WordSketch(word), edits);
      if (!dictionary.index.Find(word, edits).empty()) CHECK(may_have_near);
      for (const std::string& term : terms) {
        if (IsSpellable(word) && IsSpellable(term) && EditDistance(word, term) <= edits) CHECK(may_have_near);
      }
      ++asked;
      ruled_out += !may_have_near;
    }
  }
  CHECK(ruled_out > asked / 4);  // otherwise they would be of no use
}

TEST(spelling_sketches_without_a_dictionary_rule_out_nothing) {
  CHECK(SpellingSketches().MayHaveNear(WordSketch("gannet"), 1));
  const SpellingDictionary none({});
  CHECK(!SpellingSketches(none.index).MayHaveNear(WordSketch("gannet"), 2));
  const SpellingDictionary longest({std::string(kSpellingCharactersMax, 'a')});
  CHECK(SpellingSketches(longest.index).MayHaveNear(WordSketch(std::string(kSpellingCharactersMax, 'a')), 2));
  CHECK(!SpellingSketches(longest.index).MayHaveNear(WordSketch(std::string(kSpellingCharactersMax + 1, 'a')), 2));
}

}  // namespace
}  // namespace gannet::test
