#include "../kernel/terms/term_lookup.h"

#include <algorithm>
#include <map>
#include <random>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kOneTextField{{1}, {}};

// Returns a word of few different letters, so that words are similar. Letters have one to three bytes.
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
    views.push_back({folder->Build(kOneTextField, documents), {}});
  }
  return DeriveGeneration(nullptr, views, {}, {}, "");
}

// Returns the terms of all dictionaries, as the analyzer split the words.
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

TEST(term_lookup_finds_all_terms_with_a_prefix) {
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
      const size_t limit = round % 2 == 0 ? 100'000 : 7;
      std::vector<TermMatch> expected;
      const std::string prefix = word.substr(0, 3);
      for (const auto& [term, frequency] : terms) {
        if (term.starts_with(prefix)) expected.push_back({term, 0, frequency});
      }
      CHECK(FindPrefix(*generation, prefix, limit) == Sorted(expected, limit));
    }
  }
}

TEST(term_lookup_sums_document_frequencies_over_segments) {
  TemporaryFolder folder;
  const auto generation = Dictionary(&folder, {{"gannet", "planet"}, {"gannet"}});
  const std::vector<std::string_view> terms = {"gannet", "planet", "absent"};
  CHECK(DocumentFrequencies(*generation, terms) == (std::vector<uint64_t>{2, 1, 0}));
}

TEST(term_lookup_finds_the_splits_that_looking_up_every_part_finds) {
  std::mt19937 random(4);
  TemporaryFolder folder;
  std::vector<std::vector<std::string>> segments(2);
  for (auto& words : segments) {
    for (int i = 0; i < 1500; ++i) {
      std::string word = RandomWord(&random, 3);
      // With a mark, the word is indexed by its parts as well, and not by those of a single character.
      for (uint32_t more = random() % 3; more > 0; --more) word += (random() % 2 == 0 ? "." : "_") + RandomWord(&random, 3);
      words.push_back(word);
    }
  }
  const auto generation = Dictionary(&folder, segments);
  const auto frequency = [&](const std::string& term) {
    return DocumentFrequencies(*generation, std::vector<std::string_view>{term}).front();
  };
  uint64_t marked = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string word = RandomWord(&random, 6);
    std::vector<SplitFrequencies> expected;
    for (size_t place = 1; place < word.size(); ++place) {
      if ((static_cast<uint8_t>(word[place]) & 0xc0u) == 0x80u) continue;
      const std::string first = word.substr(0, place);
      const std::string last = word.substr(place);
      expected.push_back({std::min(frequency(first), frequency(last)), frequency(first + "." + last),
                          frequency(first + "_" + last)});
      marked += expected.back().with_full_stop + expected.back().with_low_line;
    }
    CHECK(FindSplits(*generation, word) == expected);
  }
  CHECK(marked > 20);
  CHECK(FindSplits(*generation, "").empty());
  CHECK(FindSplits(*generation, "a").empty());
}

// A part of a single character is not indexed, so the word with a mark is looked up although a part is missing. If both parts may be
// indexed and one is missing, no word with a mark can be there.
TEST(term_lookup_finds_words_with_marks_beside_a_single_character) {
  TemporaryFolder folder;
  const auto generation = Dictionary(&folder, {{"x.men", "vitamin_d", "ж.да", "да_ж"}, {"x_men", "vitamin.d", "cd.rom"}});
  using Splits = std::vector<SplitFrequencies>;
  CHECK(FindSplits(*generation, "xmen") == (Splits{{0, 1, 1}, {0, 0, 0}, {0, 0, 0}}));
  CHECK((FindSplits(*generation, "vitamind").back() == SplitFrequencies{0, 1, 1}));
  CHECK(FindSplits(*generation, "жда") == (Splits{{0, 1, 0}, {0, 0, 0}}));
  CHECK(FindSplits(*generation, "даж") == (Splits{{0, 0, 0}, {0, 0, 1}}));
  CHECK((FindSplits(*generation, "cdrom")[1] == SplitFrequencies{1, 1, 0}));
}

}  // namespace gannet::test
