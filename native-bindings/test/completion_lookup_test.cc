#include "../kernel/terms/completion_lookup.h"

#include <algorithm>
#include <random>

#include "../kernel/terms/name_lookup.h"
#include "../kernel/terms/prefix_distance.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const std::vector<std::string> kLetters = {"a", "b", "c", "ж", "ท"};

std::vector<std::string> RandomLetters(std::mt19937* random, uint32_t length_max) {
  std::vector<std::string> letters;
  for (uint32_t count = 1 + (*random)() % length_max; count > 0; --count) {
    letters.push_back(kLetters[(*random)() % kLetters.size()]);
  }
  return letters;
}

std::string Joined(const std::vector<std::string>& letters) {
  std::string text;
  for (const std::string& letter : letters) text += letter;
  return text;
}

// Over all beginnings of the text whose end is the word's end, the textbook's table.
uint32_t ExpectedDistance(const std::vector<std::string>& word, const std::vector<std::string>& text, uint32_t most) {
  const size_t n = word.size();
  const size_t m = text.size();
  std::vector<std::vector<uint32_t>> table(n + 1, std::vector<uint32_t>(m + 1));
  uint32_t nearest = most + 1;
  for (size_t j = 0; j <= m; ++j) {
    for (size_t i = 0; i <= n; ++i) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<uint32_t>(i + j);
        continue;
      }
      uint32_t best = std::min(table[i - 1][j], table[i][j - 1]) + 1;
      best = std::min(best, table[i - 1][j - 1] + (word[i - 1] == text[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && word[i - 1] == text[j - 2] && word[i - 2] == text[j - 1]) {
        best = std::min(best, table[i - 2][j - 2] + 1);
      }
      table[i][j] = best;
    }
    if (j == 0) continue;
    const bool is_end = word[n - 1] == text[j - 1];
    const bool is_exchanged = n > 1 && j > 1 && word[n - 2] == text[j - 1] && word[n - 1] == text[j - 2];
    if (is_end || is_exchanged) nearest = std::min(nearest, table[n][j]);
  }
  return nearest;
}

TEST(PrefixDistanceAgreesWithTheTable) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const auto word = RandomLetters(&random, 7);
    const uint32_t most = 1 + random() % 2;
    std::vector<std::pair<std::string, uint32_t>> texts;
    for (int i = 0; i < 40; ++i) {
      const auto text = RandomLetters(&random, 10);
      texts.emplace_back(Joined(text), ExpectedDistance(word, text, most));
    }
    // In order, as a dictionary has them, and in none.
    if (round % 2 == 0) std::sort(texts.begin(), texts.end());
    PrefixDistance distance(Joined(word), most);
    for (const auto& [text, expected] : texts) CHECK_EQ(distance.Of(text), expected);
  }
}

std::shared_ptr<const Generation> Words(TemporaryFolder* folder,
                                        const std::vector<std::vector<std::string>>& segments) {
  std::vector<SegmentView> views;
  for (const auto& texts : segments) {
    std::vector<DocumentWriter> documents;
    for (const auto& text : texts) {
      documents.push_back(DocumentWriter(static_cast<uint32_t>(documents.size())).Text(0, text));
    }
    views.push_back({folder->Build({{1}, {}, ""}, documents), {}});
  }
  return DeriveGeneration(nullptr, views, {}, {}, "");
}

std::vector<std::string> Terms(const std::vector<TermMatch>& matches) {
  std::vector<std::string> terms;
  for (const TermMatch& match : matches) terms.push_back(match.term);
  return terms;
}

TEST(CompletionsAreTheMostFrequentTermsOfAllSegments) {
  TemporaryFolder folder;
  const auto generation =
      Words(&folder, {{"star stars", "star", "start", "sta"}, {"stars", "stars", "stairs", "zoo"}});
  CHECK(Terms(CompleteWord(*generation, "sta", 0, 3)) == (std::vector<std::string>{"stars", "star", "sta"}));
  const auto stars = CompleteWord(*generation, "stars", 0, 9);
  CHECK(stars == (std::vector<TermMatch>{{"stars", 0, 3}}));
  CHECK(CompleteWord(*generation, "x", 0, 9).empty());
  CHECK(CompleteWord(*generation, "", 0, 9).empty());
  CHECK(Terms(CompleteWord(*generation, "strat", 1, 9)) == (std::vector<std::string>{"start"}));
  CHECK(CompleteWord(*generation, "xtar", 1, 9).empty());
  CHECK_THROWS(kInvalidArgument, CompleteWord(*generation, "star", 3, 9));
}

TEST(NamesAreFoundByTheirBeginningByThatOfAWordAndWithTypos) {
  TemporaryFolder folder;
  const SegmentSchema schema{{1}, {{"@name", ColumnType::kString, false}}, ""};
  std::vector<SegmentView> views;
  const std::vector<std::vector<std::string>> segments = {
      {"New York", "New Orleans", "York", "old-newton"}, {"Newcastle", "york minster", "Yellowknife"}, {"Über New"}};
  for (const auto& names : segments) {
    std::vector<DocumentWriter> documents;
    for (const auto& name : names) {
      std::string key;
      for (const char byte : name) key += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
      documents.push_back(DocumentWriter(static_cast<uint32_t>(documents.size())).Text(0, "x").String(0, key, name));
    }
    views.push_back({folder.Build(schema, documents), {}});
  }
  const auto generation = DeriveGeneration(nullptr, views, {}, {}, "");
  const auto find = [&](std::string_view prefix, uint32_t edits, size_t limit) {
    std::string found;
    for (const NameMatch& match : FindNames(*generation, "@name", prefix, edits, limit)) {
      const char* kind = match.kind == NameMatchKind::kStart ? "|" : match.kind == NameMatchKind::kWord ? "/" : "~";
      found += match.display + kind;
    }
    return found;
  };
  CHECK_EQ(find("new", 0, 9), "New Orleans|New York|Newcastle|old-newton/Über New/");
  CHECK_EQ(find("new", 0, 2), "New Orleans|New York|");
  CHECK_EQ(find("york", 0, 9), "York|york minster|New York/");
  CHECK_EQ(find("ork", 0, 9), "");
  CHECK_EQ(find("yellwo", 1, 9), "Yellowknife~");
  CHECK_EQ(find("", 0, 9), "");
  CHECK_EQ(find("zzz", 2, 9), "");
  CHECK_EQ(find("w", 0, 9), "");
  CHECK_EQ(find("minster", 0, 9), "york minster/");
  CHECK_EQ(FindNames(*generation, "@none", "new", 0, 9).size(), 0u);
}

}  // namespace
}  // namespace gannet::test
