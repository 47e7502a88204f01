// Compares sketches with the edit distances of all terms: they may return a term that is too far, but never miss a near one.
#include "../kernel/vocabulary/spelling_sketches.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "edit_distance.h"
#include "spelling_dictionary.h"

namespace gannet::test {
namespace {

std::vector<uint32_t> Near(const SpellingSketches& sketches, std::string_view word, uint32_t edits) {
  std::vector<uint32_t> near;
  sketches.FindNear(WordSketch(word), edits, &near);
  return near;
}

TEST(spelling_sketches_miss_no_near_term) {
  std::mt19937 random(17);
  static const std::vector<std::vector<std::string>> kAlphabets = {
      {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"},
      {"a", "\x01", "A", "\xd0\xb9", "\xd0\xb8", "\xd1\x88"},        // letters that share a bit, and Cyrillic
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
    for (uint32_t count = random() % (round % 10 == 0 ? 300 : 6); count > 0; --count) terms.insert(make());
    const SpellingDictionary dictionary(terms);
    const SpellingSketches sketches(dictionary.index);
    for (uint32_t question = 0; question < 40; ++question) {
      const std::string word = make();
      const uint32_t edits = 1 + random() % kSpellingEditsMax;
      const std::vector<uint32_t> near = Near(sketches, word, edits);
      CHECK(std::set<uint32_t>(near.begin(), near.end()).size() == near.size());
      const auto among = dictionary.index.FindAmong(near, word, edits);
      const auto all = dictionary.index.Find(word, edits);
      CHECK(among.size() == all.size());
      for (size_t i = 0; i < std::min(all.size(), among.size()); ++i) CHECK(among[i].term == all[i].term && among[i].distance == all[i].distance);
      for (const std::string& term : terms) {
        if (IsSpellable(word) && IsSpellable(term) && EditDistance(word, term) <= edits) CHECK(!near.empty());
      }
      asked += dictionary.index.size();
      ruled_out += dictionary.index.size() - static_cast<uint32_t>(near.size());
    }
  }
  CHECK(ruled_out > asked / 4);  // Otherwise sketches would be useless.
}

TEST(spelling_sketches_find_only_terms_of_their_dictionary) {
  CHECK(!SpellingSketches().is_known());
  const SpellingDictionary none({});
  CHECK(SpellingSketches(none.index).is_known());
  CHECK(Near(SpellingSketches(none.index), "gannet", 2).empty());
  const SpellingDictionary longest({std::string(kSpellingCharactersMax, 'a')});
  CHECK(!Near(SpellingSketches(longest.index), std::string(kSpellingCharactersMax, 'a'), 2).empty());
  CHECK(Near(SpellingSketches(longest.index), std::string(kSpellingCharactersMax + 1, 'a'), 2).empty());
  bool is_refused = false;
  try {
    longest.index.FindAmong(std::vector<uint32_t>{1}, "gannet", 1);
  } catch (const Error& error) {
    is_refused = error.code() == ErrorCode::kDamaged;
  }
  CHECK(is_refused);
}

}  // namespace
}  // namespace gannet::test
