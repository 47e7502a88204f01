#include "../kernel/terms/term_lookup.h"

#include <algorithm>
#include <map>
#include <random>

#include "../kernel/terms/edit_automaton.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kOneField{{1}, {}};

std::u32string CodePoints(std::string_view text) {
  std::u32string points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t point = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t j = 1; j < length; ++j) point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3f);
    points.push_back(point);
    i += length;
  }
  return points;
}

// Optimal string alignment, the textbook's table.
uint32_t Distance(std::string_view left, std::string_view right) {
  const std::u32string a = CodePoints(left);
  const std::u32string b = CodePoints(right);
  std::vector<std::vector<uint32_t>> table(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<uint32_t>(i + j);
        continue;
      }
      uint32_t best = std::min(table[i - 1][j] + 1, table[i][j - 1] + 1);
      best = std::min(best, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, table[i - 2][j - 2] + 1);
      table[i][j] = best;
    }
  }
  return table[a.size()][b.size()];
}

// Letters of one, two and three bytes; few of them, so that words are near each other.
std::string RandomWord(std::mt19937* random, uint32_t length_max) {
  static const std::vector<std::string> letters = {"a", "b", "c", "d", "z", "ж", "ш", "ท", "0"};
  std::string word;
  for (uint32_t count = 1 + (*random)() % length_max; count > 0; --count) word += letters[(*random)() % letters.size()];
  return word;
}

std::shared_ptr<const Generation> Dictionary(TemporaryFolder* folder,
                                             const std::vector<std::vector<std::string>>& segments) {
  std::vector<SegmentView> views;
  for (const auto& words : segments) {
    std::vector<DocumentWriter> documents;
    for (const auto& word : words)
      documents.push_back(DocumentWriter(static_cast<uint32_t>(documents.size())).Text(0, word));
    views.push_back({folder->Build(kOneField, documents), {}});
  }
  return DeriveGeneration(nullptr, views, {}, {}, "");
}

// What the dictionaries hold, however the analyzer cut the words.
std::map<std::string, uint64_t> Terms(const Generation& generation) {
  struct Collector : Segment::TermVisitor {
    std::map<std::string, uint64_t> terms;
    bool Visit(std::string_view term, uint32_t document_frequency) override {
      terms[std::string(term)] += document_frequency;
      return true;
    }
  } collector;
  for (const SegmentView& view : generation.segments) view.segment->VisitTerms("", &collector);
  return collector.terms;
}

std::vector<TermMatch> Sorted(std::vector<TermMatch> matches, size_t limit) {
  std::sort(matches.begin(), matches.end(), [](const TermMatch& a, const TermMatch& b) {
    return std::tuple(a.distance, ~a.document_frequency, a.term) <
           std::tuple(b.distance, ~b.document_frequency, b.term);
  });
  matches.resize(std::min(limit, matches.size()));
  return matches;
}

}  // namespace

TEST(term_lookup_finds_what_brute_force_finds) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    TemporaryFolder folder;
    std::vector<std::vector<std::string>> segments(2);
    for (auto& words : segments) {
      for (int i = 0; i < 1500; ++i) words.push_back(RandomWord(&random, 8));
    }
    const auto generation = Dictionary(&folder, segments);
    const std::map<std::string, uint64_t> terms = Terms(*generation);
    for (int round = 0; round < 60; ++round) {
      const std::string word = RandomWord(&random, 9);
      const uint32_t distance_max = static_cast<uint32_t>(round % 3);
      const size_t limit = round % 2 == 0 ? 100'000 : 7;
      std::vector<TermMatch> expected;
      for (const auto& [term, frequency] : terms) {
        const uint32_t distance = Distance(word, term);
        if (distance <= distance_max) expected.push_back({term, distance, frequency});
      }
      const bool same = FindFuzzy(*generation, word, distance_max, limit) == Sorted(expected, limit);
      if (!same) std::fprintf(stderr, "  seed %u: %s at %u\n", seed, word.c_str(), distance_max);
      CHECK(same);
      expected.clear();
      const std::string prefix = word.substr(0, 3);
      for (const auto& [term, frequency] : terms) {
        if (term.starts_with(prefix)) expected.push_back({term, 0, frequency});
      }
      CHECK(FindPrefix(*generation, prefix, limit) == Sorted(expected, limit));
    }
  }
}

TEST(term_lookup_counts_a_transposition_as_one_edit) {
  TemporaryFolder folder;
  const auto generation =
      Dictionary(&folder, {{"gannet", "gannte", "ganet", "agnnet", "gannets", "planet"}, {"gannet"}});
  const std::vector<TermMatch> expected = {
      {"gannet", 0, 2}, {"agnnet", 1, 1}, {"ganet", 1, 1}, {"gannets", 1, 1}, {"gannte", 1, 1}};
  CHECK(FindFuzzy(*generation, "gannet", 1, 10) == expected);
  CHECK(FindFuzzy(*generation, "", 2, 10).empty());
  CHECK_THROWS(kInvalidArgument, FindFuzzy(*generation, "gannet", 3, 10));
  const std::vector<std::string_view> terms = {"gannet", "planet", "absent"};
  CHECK(DocumentFrequencies(*generation, terms) == (std::vector<uint64_t>{2, 1, 0}));
}

// Wherever the automaton sends the walk, it must not pass over a match.
TEST(edit_automaton_never_skips_a_match) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::string word = RandomWord(&random, 6);
    std::vector<std::string> terms;
    for (int i = 0; i < 200; ++i) terms.push_back(RandomWord(&random, 7));
    std::sort(terms.begin(), terms.end());
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    EditAutomaton automaton(word, 1 + static_cast<uint32_t>(round % 2));
    std::string seek;
    for (const std::string& term : terms) {
      const bool matches = Distance(word, term) <= 1 + static_cast<uint32_t>(round % 2);
      if (term < seek) {
        CHECK(!matches);
        continue;
      }
      CHECK_EQ(automaton.Accept(term), matches);
      if (matches) continue;
      std::string next;
      if (!automaton.SkipTo(&next)) continue;
      CHECK(next.empty() || next > term);
      seek = next.empty() ? std::string(8, '\xff') : next;
    }
  }
}

}  // namespace gannet::test
