// Compares typo candidates with the edit distances of every term.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../kernel/vocabulary/spelling_index.h"
#include "check.h"
#include "edit_distance.h"
#include "spelling_dictionary.h"

namespace gannet::test {
namespace {

std::set<std::string> Found(const SpellingIndex& index, std::string_view word, uint32_t edits) {
  std::set<std::string> found;
  for (const SpellingMatch& match : index.Find(word, edits)) {
    found.insert(std::string(index.term(match.term)) + " " + std::to_string(match.distance));
  }
  return found;
}

std::set<std::string> Expected(const std::set<std::string>& terms, std::string_view word, uint32_t edits) {
  std::set<std::string> expected;
  for (const std::string& term : terms) {
    const uint32_t distance = EditDistance(word, term);
    if (distance <= edits && IsSpellable(term) && IsSpellable(word)) {
      expected.insert(term + " " + std::to_string(distance));
    }
  }
  return expected;
}

TEST(spelling_index_finds_all_terms_within_the_edit_distance) {
  std::mt19937 random(11);
  for (uint32_t round = 0; round < 60; ++round) {
    // Few letters give many neighbours. Some rounds have letters of two and three bytes with common bytes.
    static const std::vector<std::vector<std::string>> kAlphabets = {
        {"a", "b"}, {"a", "b", "c", "d"}, {"a", "й", "и", "ш"}, {"ท", "ธ", "a", "ж", "é"}, {"a", "b", "1"}};
    const auto& letters = kAlphabets[round % kAlphabets.size()];
    const auto make = [&](uint32_t length_max) {
      std::string word;
      for (uint32_t count = 1 + random() % length_max; count > 0; --count) word += letters[random() % letters.size()];
      return word;
    };
    std::set<std::string> terms;
    const uint32_t size = round < 5 ? round : 1 + random() % 400;
    for (uint32_t i = 0; i < size; ++i) terms.insert(make(round % 3 == 0 ? 6 : 12));
    const SpellingDictionary dictionary(terms);
    for (uint32_t i = 0; i < 25; ++i) {
      std::string word = make(12);
      if (i % 3 == 0 && !terms.empty()) word = *std::next(terms.begin(), static_cast<int>(random() % terms.size()));
      for (const uint32_t edits : {1u, 2u}) {
        CHECK(Found(dictionary.index, word, edits) == Expected(terms, word, edits));
      }
    }
  }
}

TEST(spelling_index_leaves_out_numbers_and_terms_of_wrong_length) {
  const std::string longest(kSpellingCharactersMax, 'a');
  const SpellingDictionary dictionary({"xr500", "1999", "a", "ab", longest, longest + "a", "word"});
  CHECK_EQ(dictionary.index.size(), 3u);
  CHECK(dictionary.index.Find("xr501", 1).empty());
  CHECK_EQ(dictionary.index.Find(longest, 2).size(), 1u);
  CHECK(dictionary.index.Find(longest + "a", 2).empty());
  CHECK(dictionary.index.Find("", 2).empty());
  CHECK(dictionary.index.Find("word", 0).empty());
  CHECK(SpellingIndex().Find("word", 2).empty());
}

TEST(spelling_index_that_is_damaged_throws_or_stays_within_its_bytes) {
  CHECK_THROWS(kDamaged, SpellingIndex({}, std::vector<uint32_t>{0, 1}, {}));
  std::mt19937 random(3);
  std::set<std::string> terms;
  for (uint32_t i = 0; i < 200; ++i) {
    terms.insert(std::string(1 + random() % 6, static_cast<char>('a' + random() % 5)) + "bй");
  }
  SpellingDictionary dictionary(terms);
  std::string text(dictionary.writer.text());
  std::vector<uint32_t> offsets = dictionary.writer.offsets();
  for (uint32_t round = 0; round < 2000; ++round) {
    std::string bad_text = text;
    std::vector<uint32_t> bad_offsets = offsets;
    std::vector<uint32_t> bad_order = dictionary.backwards;
    switch (random() % 3) {
      case 0: bad_text[random() % bad_text.size()] = static_cast<char>(random()); break;
      case 1: bad_offsets[random() % bad_offsets.size()] = static_cast<uint32_t>(random() % 400); break;
      default: bad_order[random() % bad_order.size()] = static_cast<uint32_t>(random() % 60);
    }
    const SpellingIndex index({reinterpret_cast<const uint8_t*>(bad_text.data()), bad_text.size()}, bad_offsets,
                              bad_order);
    try {
      index.Find("aabй", 2);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kDamaged);
    }
  }
}

}  // namespace
}  // namespace gannet::test
