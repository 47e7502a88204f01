#include "../kernel/terms/completion_lookup.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "../kernel/terms/context_count.h"
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

// Returns the least distance of the word to a prefix of the text that ends as the word does, by the textbook's table.
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

TEST(PrefixDistanceAgreesWithTheTextbookTable) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const auto word = RandomLetters(&random, 7);
    const uint32_t most = 1 + random() % 2;
    std::vector<std::pair<std::string, uint32_t>> texts;
    for (int i = 0; i < 40; ++i) {
      const auto text = RandomLetters(&random, 10);
      texts.emplace_back(Joined(text), ExpectedDistance(word, text, most));
    }
    // Half of the rounds have sorted texts, as a dictionary has.
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
  // A term with a shortened key is no completion, also if the key is cut before a character of several bytes.
  std::string wide = "a";
  while (wide.size() <= kTermBytesMax) wide += "ж";
  const auto shortened = Words(&folder, {{wide, "aж"}});
  CHECK(Terms(CompleteWord(*shortened, "aж", 0, 9)) == (std::vector<std::string>{"aж"}));
}

// Returns the completions that CompleteWord promises, from all terms.
std::vector<TermMatch> ExpectedCompletions(const std::map<std::string, uint64_t>& frequencies, const std::string& prefix,
                                           uint32_t edits, size_t limit) {
  std::vector<TermMatch> expected;
  PrefixDistance distance(prefix, edits);
  for (const auto& [term, frequency] : frequencies) {
    if (term[0] != prefix[0] || (edits == 0 && !term.starts_with(prefix))) continue;
    const uint32_t found = edits == 0 ? 0 : distance.Of(term);
    if (found <= edits) expected.push_back({term, found, frequency});
  }
  std::sort(expected.begin(), expected.end(), [](const TermMatch& a, const TermMatch& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.document_frequency != b.document_frequency ? a.document_frequency > b.document_frequency : a.term < b.term;
  });
  if (expected.size() > limit) expected.resize(limit);
  return expected;
}

std::string RandomWord(std::mt19937* random) {
  std::string word;
  // Letters have very different frequencies, so that some prefixes have hundreds of words.
  for (uint32_t length = 2 + (*random)() % 6; length > 0; --length) {
    word.push_back(static_cast<char>('a' + std::min((*random)() % 9, (*random)() % 9)));
  }
  return word;
}

TEST(CompletionsEqualThoseOfTheWholeDictionaryWhenTermsAreSkippedOrCached) {
  TemporaryFolder folder;
  std::mt19937 random(7);
  std::vector<std::vector<std::string>> segments(3);
  std::map<std::string, uint64_t> frequencies;
  for (auto& texts : segments) {
    for (int i = 0; i < 300; ++i) {
      std::set<std::string> words;
      std::string text;
      for (int j = 0; j < 12; ++j) words.insert(RandomWord(&random));
      for (const std::string& word : words) {
        text += word + " ";
        ++frequencies[word];
      }
      texts.push_back(text);
    }
  }
  const auto generation = Words(&folder, segments);
  for (int round = 0; round < 300; ++round) {
    const std::string prefix = RandomWord(&random).substr(0, 1 + random() % 6);
    const uint32_t edits = prefix.size() < 3 ? 0 : random() % 3;
    const size_t limit = 1 + random() % 20;
    CHECK(CompleteWord(*generation, prefix, edits, limit) == ExpectedCompletions(frequencies, prefix, edits, limit));
  }
  CHECK_THROWS(kInvalidArgument, CompleteWord(*generation, "a", 0, kCompletionsMax + 1));
}

TEST(CountsInContextEqualAScanOfAllDocuments) {
  TemporaryFolder folder;
  std::mt19937 random(11);
  const SegmentSchema schema{{1}, {}, ""};
  std::vector<SegmentView> views;
  std::vector<std::vector<std::set<std::string>>> texts;  // words of each text by segment and document
  for (int segment = 0; segment < 3; ++segment) {
    std::vector<DocumentWriter> documents;
    texts.emplace_back();
    for (int i = 0; i < 700; ++i) {
      std::string text;
      std::set<std::string> words;
      // Words occur in every document down to a handful.
      for (char letter = 'a'; letter < 'j'; ++letter) {
        if (random() % (1u << (letter - 'a')) == 0) words.insert(std::string(1, letter));
      }
      words.insert("z");
      for (const std::string& word : words) text += word + " ";
      documents.push_back(DocumentWriter(static_cast<uint32_t>(documents.size())).Text(0, text));
      texts.back().push_back(words);
    }
    views.push_back({folder.Build(schema, documents), {}});
  }
  std::vector<SegmentDeletions> deletions = {{views[1].segment, {}}};
  std::vector<bool> is_deleted(700);
  for (int i = 0; i < 100; ++i) is_deleted[random() % 700] = true;
  for (uint32_t i = 0; i < 700; ++i) {
    if (is_deleted[i]) deletions[0].documents.push_back(i);
  }
  const auto generation = DeriveGeneration(nullptr, views, {}, deletions, "");
  const auto random_word = [&] { return std::string(1, static_cast<char>('a' + random() % 11)); };  // j, k: unknown
  for (int round = 0; round < 200; ++round) {
    std::vector<ContextWord> context(random() % 4);
    for (ContextWord& word : context) {
      for (uint32_t left = 1 + random() % 2; left > 0; --left) word.push_back(random_word());
    }
    std::vector<std::string> completions;
    for (uint32_t left = 1 + random() % 5; left > 0; --left) completions.push_back(random_word());
    const size_t wanted = 1 + random() % 5;
    ContextCounts expected{0, std::vector<uint64_t>(completions.size())};
    for (size_t segment = 0; segment < texts.size(); ++segment) {
      for (size_t i = 0; i < texts[segment].size(); ++i) {
        const auto& words = texts[segment][i];
        if (segment == 1 && is_deleted[i]) continue;
        const bool matches = std::all_of(context.begin(), context.end(), [&](const ContextWord& word) {
          return std::any_of(word.begin(), word.end(), [&](const std::string& term) { return words.contains(term); });
        });
        if (!matches) continue;
        ++expected.context;
        for (size_t j = 0; j < completions.size(); ++j) expected.completions[j] += words.contains(completions[j]);
      }
    }
    size_t found = 0;
    for (uint64_t& count : expected.completions) {
      if (found == wanted) count = 0;
      found += count > 0;
    }
    const ContextCounts counts = CountInContext(*generation, context, completions, wanted);
    CHECK_EQ(counts.context, expected.context);
    CHECK(counts.completions == expected.completions);
  }
}

TEST(NamesAreFoundByPrefixByPrefixOfAWordAndWithTypos) {
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

TEST(NamesThatDifferOnlyInCaseAreMarkedAsShared) {
  TemporaryFolder folder;
  const SegmentSchema schema{{1}, {{"@name", ColumnType::kString, false}}, ""};
  std::vector<SegmentView> views;
  const std::vector<std::vector<std::string>> segments = {{"york", "New York"}, {"York", "york", "yorkers"}};
  for (const auto& names : segments) {
    std::vector<DocumentWriter> documents;
    for (const auto& name : names) {
      const std::string key = name == "York" ? "york" : name == "New York" ? "new york" : name;
      documents.push_back(DocumentWriter(static_cast<uint32_t>(documents.size())).Text(0, "x").String(0, key, name));
    }
    views.push_back({folder.Build(schema, documents), {}});
  }
  const auto generation = DeriveGeneration(nullptr, views, {}, {}, "");
  std::string found;
  for (const NameMatch& match : FindNames(*generation, "@name", "yor", 0, 9)) {
    found += match.display + (match.is_shared ? "+" : "|");
  }
  CHECK_EQ(found, "York+york|yorkers+New York|");
}

}  // namespace
}  // namespace gannet::test
