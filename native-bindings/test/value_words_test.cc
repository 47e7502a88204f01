// Tests which facet values match typed prefixes of words.
#include "../kernel/collect/value_words.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet::test {
namespace {

std::vector<std::string> FoldedWords(std::string_view text) {
  std::vector<std::string> words;
  Analyzer analyzer;
  analyzer.Reset(text);
  for (Token token; analyzer.Next(&token);) words.emplace_back(token.term);
  return words;
}

bool Matches(std::string_view typed, std::string_view key) {
  const std::vector<std::string> words = FoldedWords(typed);
  const std::vector<std::string_view> views(words.begin(), words.end());
  return ValueWords(views).Match(key);
}

TEST(value_words_match_prefixes_of_words_in_any_order) {
  CHECK(Matches("new bal", "new balance"));
  CHECK(Matches("Bal NEW", "new balance"));
  CHECK(!Matches("new alance", "new balance"));
  CHECK(!Matches("new old", "new balance"));
  CHECK(Matches("smi", "o\xe2\x80\x99neill-smith"));
  CHECK(Matches("emile", "\xc3\xa9mile zola"));
  CHECK(Matches("\xc3\x89MIL", "\xc3\xa9mile zola"));
  CHECK(Matches("strasse", "hauptstra\xc3\x9f" "e stra\xc3\x9f" "e"));
  CHECK(Matches("", "anything"));
  CHECK(!Matches("x", ""));
}

// The comparison of bytes finds the same as a comparison of the analyzer's words.
TEST(value_words_agree_with_the_words_of_the_analyzer) {
  std::mt19937 random(9);
  const std::string_view alphabet = "ab1 -&/'.";
  const auto make = [&](size_t most) {
    std::string text;
    for (size_t length = random() % (most + 1); length > 0; --length) text += alphabet[random() % alphabet.size()];
    return text;
  };
  uint32_t matched = 0;
  for (uint32_t round = 0; round < 20'000; ++round) {
    const std::string key = make(9);
    const std::vector<std::string> words = FoldedWords(make(4));
    const std::vector<std::string_view> views(words.begin(), words.end());
    const std::vector<std::string> of_key = FoldedWords(key);
    const bool expected = std::ranges::all_of(words, [&](const std::string& word) {
      return std::ranges::any_of(of_key, [&](const std::string& own) { return own.starts_with(word); });
    });
    CHECK_EQ(ValueWords(views).Match(key), expected);
    matched += expected && !words.empty();
  }
  CHECK(matched > 500);
}

}  // namespace
}  // namespace gannet::test
