// Expansions of words over several segments against a dictionary kept in a map.
#include "../kernel/terms/word_expander.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "../kernel/analysis/stemmer.h"
#include "../kernel/terms/expansion_names.h"
#include "check.h"
#include "edit_distance.h"
#include "search_support.h"

namespace gannet::test {
namespace {

// A list whose dictionary is known: term -> documents that hold it.
class KnownList {
 public:
  // Each text is a document; `segments` of them.
  KnownList(const std::string& language, const std::vector<std::vector<std::string>>& segments) : language_(language) {
    SegmentSchema schema{{1}, {}};
    schema.language = language;
    std::vector<SegmentView> views;
    uint32_t record_number = 0;
    for (const auto& texts : segments) {
      std::vector<DocumentWriter> writers;
      for (const std::string& text : texts) {
        writers.push_back(DocumentWriter(record_number++).Text(0, text));
        std::set<std::string> words;
        for (size_t begin = 0; begin < text.size();) {
          const size_t end = std::min(text.find(' ', begin), text.size());
          words.insert(text.substr(begin, end - begin));
          begin = end + 1;
        }
        for (const std::string& word : words) ++frequencies_[word];
      }
      views.push_back({folder_.Build(schema, writers), {}});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, {}, "{}");
  }

  WordExpansion Expand(const std::string& word, uint32_t edits, const ExpansionLimits& limits) const {
    return ExpandWords(*generation_, std::vector<std::string>{word}, std::vector<uint32_t>{edits}, limits)[0];
  }

  WordExpansion Expected(const std::string& word, uint32_t edits, const ExpansionLimits& limits) const {
    Stemmer& stemmer = ThreadStemmer(language_);
    const std::string stem(stemmer.Stem(word));
    WordExpansion expected;
    for (const auto& [term, frequency] : frequencies_) {
      if (term == word) {
        expected.document_frequency = frequency;
        continue;
      }
      if (term.starts_with(word)) expected.prefixes.push_back({term, 0, frequency});
      if (!stem.empty() && stemmer.Stem(term) == stem) {
        expected.stems.push_back({term, 0, frequency});
      } else if (IsSpellable(word) && IsSpellable(term)) {
        const uint32_t distance = EditDistance(word, term);
        if (distance <= edits) expected.typos.push_back({term, distance, frequency});
      }
    }
    Order(&expected.stems, limits.stems);
    Order(&expected.typos, limits.typos);
    Order(&expected.prefixes, limits.prefixes);
    return expected;
  }

  std::string AnyTerm(std::mt19937* random) const {
    return std::next(frequencies_.begin(), static_cast<ptrdiff_t>((*random)() % frequencies_.size()))->first;
  }

 private:
  static void Order(std::vector<TermMatch>* matches, size_t limit) {
    std::sort(matches->begin(), matches->end(), [](const TermMatch& a, const TermMatch& b) {
      if (a.distance != b.distance) return a.distance < b.distance;
      if (a.document_frequency != b.document_frequency) return a.document_frequency > b.document_frequency;
      return a.term < b.term;
    });
    if (matches->size() > limit) matches->resize(limit);
  }

  std::string language_;
  TemporaryFolder folder_;
  std::map<std::string, uint64_t> frequencies_;
  std::shared_ptr<const Generation> generation_;
};

std::string RandomTerm(std::mt19937* random) {
  static const std::vector<std::string> roots = {"connect", "relat",  "run",   "study", "bab",   "ab",
                                                 "zebra",   "nation", "abcde", "книг",  "xr500", "o"};
  static const std::vector<std::string> endings = {"", "s", "ed", "ing", "ion", "ions", "'s", "ies", "al", "и", "ы"};
  std::string term = roots[(*random)() % roots.size()];
  if (term[0] == 'r' || term[0] == 'b' || term[0] == 'a') term[(*random)() % 2] = static_cast<char>('a' + (*random)() % 4);
  const std::string& ending = endings[(*random)() % endings.size()];
  return term.ends_with('0') && ending == "'s" ? term : term + ending;  // that would be two words
}

TEST(word_expander_agrees_with_a_map_of_the_terms) {
  std::mt19937 random(7);
  for (const char* language : {"en", "ru", "none"}) {
    std::vector<std::vector<std::string>> segments(3);
    for (auto& texts : segments) {
      for (uint32_t documents = 1 + random() % 60; documents > 0; --documents) {
        std::string text = RandomTerm(&random);
        for (uint32_t words = random() % 6; words > 0; --words) text += " " + RandomTerm(&random);
        texts.push_back(text);
      }
    }
    const KnownList list(language, segments);
    for (uint32_t round = 0; round < 400; ++round) {
      const std::string word = round % 2 == 0 ? list.AnyTerm(&random) : RandomTerm(&random);
      const uint32_t edits = random() % 3;
      const uint32_t few = 1 + random() % 3;
      const ExpansionLimits limits = round % 4 == 0 ? ExpansionLimits{few, few, few} : ExpansionLimits{1000, 1000, 1000};
      const WordExpansion found = list.Expand(word, edits, limits);
      WordExpansion expected = list.Expected(word, edits, limits);
      CHECK_EQ(found.document_frequency, expected.document_frequency);
      CHECK(found.stems == expected.stems);
      CHECK(found.typos == expected.typos);
      CHECK(found.prefixes == expected.prefixes);
    }
  }
}

std::vector<std::pair<std::string, uint32_t>> Outline(const std::vector<TermMatch>& matches) {
  std::vector<std::pair<std::string, uint32_t>> outline;
  for (const TermMatch& match : matches) outline.emplace_back(match.term, match.distance);
  return outline;
}

// Segments come and go as they do beside writes: what has a name once has to be what every generation says that has it.
TEST(expansion_names_stand_for_one_expansion_in_all_generations) {
  std::mt19937 random(23);
  const ExpansionLimits limits = {32, 128, 0};
  for (const char* language : {"en", "none"}) {
    TemporaryFolder folder;
    SegmentSchema schema{{1}, {}};
    schema.language = language;
    uint32_t record_number = 0;
    const auto make_segment = [&](uint32_t documents) {
      std::vector<DocumentWriter> writers;
      for (; documents > 0; --documents) {
        std::string text = RandomTerm(&random);
        for (uint32_t words = random() % 3; words > 0; --words) text += " " + RandomTerm(&random);
        writers.push_back(DocumentWriter(record_number++).Text(0, text));
      }
      return SegmentView{folder.Build(schema, writers), {}};
    };
    auto generation = DeriveGeneration(nullptr, {make_segment(60)}, {}, {}, "{}");
    std::map<uint64_t, std::pair<std::string, WordExpansion>> known;
    uint32_t repeated = 0;
    for (uint32_t round = 0; round < 120; ++round) {
      std::vector<std::string> words;
      std::vector<uint32_t> edits;
      for (uint32_t i = 0; i < 20; ++i) {
        words.push_back(RandomTerm(&random));
        edits.push_back(random() % 3);
      }
      const auto names = NameExpansions(*generation, words, edits, limits);
      const auto expansions = ExpandWords(*generation, words, edits, limits);
      for (size_t i = 0; i < words.size(); ++i) {
        const WordExpansion& found = expansions[i];
        if (names[i] == kNothingKnownName) {
          CHECK(found.document_frequency == 0 && found.stems.empty() && found.typos.empty());
          continue;
        }
        const auto [entry, is_new] = known.try_emplace(names[i], words[i] + std::to_string(edits[i]), found);
        repeated += !is_new;
        const auto& [question, expansion] = entry->second;
        CHECK_EQ(question, words[i] + std::to_string(edits[i]));
        CHECK_EQ(expansion.document_frequency > 0, found.document_frequency > 0);
        CHECK(Outline(expansion.stems) == Outline(found.stems));
        CHECK(Outline(expansion.typos) == Outline(found.typos));
      }
      std::vector<std::shared_ptr<const Segment>> removed;
      // Now and then all small segments go, as when they are merged.
      for (const SegmentView& view : generation->segments) {
        if (view.segment->document_count() < 60 && round % 9 == 8) removed.push_back(view.segment);
      }
      std::vector<SegmentView> added;
      if (round % 3 != 2) added.push_back(make_segment(1 + random() % 2));
      generation = DeriveGeneration(generation.get(), added, removed, {}, "{}");
    }
    CHECK(repeated > 500);  // otherwise they would be of no use
  }
}

TEST(expansion_names_refuse_what_expansions_refuse) {
  const auto empty = DeriveGeneration(nullptr, {}, {}, {}, "{}");
  const std::vector<std::string> words = {"gannet"};
  const auto name = [&](const std::vector<uint32_t>& edits) { return NameExpansions(*empty, words, edits, {1, 1, 0}); };
  CHECK(name({2}) == std::vector<uint64_t>{kNothingKnownName});
  CHECK_THROWS(kInvalidArgument, name({kSpellingEditsMax + 1}));
  CHECK_THROWS(kInvalidArgument, name({1, 1}));
}

TEST(word_expander_returns_more_near_terms_than_the_cache_takes) {
  std::string text;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) text += std::string("gann") + a + b + " ";
  }
  const KnownList list("en", {{text.substr(0, text.size() - 1)}});
  for (int time = 0; time < 2; ++time) {
    const WordExpansion found = list.Expand("gannet", 2, {10, 1000, 10});
    CHECK(found.typos == list.Expected("gannet", 2, {10, 1000, 10}).typos);
    // A form takes five bytes at least.
    CHECK(found.typos.size() * 5 > kCachedSpellingBytesMax);
  }
}

TEST(word_expander_leaves_numbers_alone_and_checks_its_limits) {
  const KnownList list("en", {{"xr500 xr501 xr500s xr5000"}});
  const WordExpansion found = list.Expand("xr500", 2, {10, 10, 10});
  CHECK(found.stems.empty() && found.typos.empty());
  CHECK_EQ(found.prefixes.size(), 2u);
  CHECK_THROWS(kInvalidArgument, list.Expand("word", 3, {1, 1, 1}));
  CHECK_THROWS(kInvalidArgument, list.Expand("word", 1, {kExpandedTermsMax + 1, 1, 1}));
}

}  // namespace
}  // namespace gannet::test
