// Compares expansions of words over several segments with a dictionary in a map.
#include "../kernel/terms/word_expander.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "../kernel/terms/compound_lookup.h"
#include "../kernel/terms/expansion_names.h"
#include "../kernel/terms/new_terms.h"
#include "check.h"
#include "known_list.h"
#include "search_support.h"

namespace gannet::test {
namespace {

// Returns a first word of a compound in one call of six, otherwise nothing.
std::string RandomBeginning(std::mt19937* random, bool is_hangul) {
  return (*random)() % 6 > 0 ? "" : is_hangul ? "대학" : "fahrt";
}

std::string RandomTerm(std::mt19937* random) {
  static const std::vector<std::string> roots = {"connect", "relat",  "run",   "study", "bab",   "ab",
                                                 "zebra",   "nation", "abcde", "книг",  "xr500", "o",
                                                 "서울",    "대학",   "fahrt"};
  static const std::vector<std::string> endings = {"", "s", "ed", "ing", "ion", "ions", "'s", "ies", "al", "и", "ы",
                                                   "서울", "대학", "시", "plan"};
  std::string term = roots[(*random)() % roots.size()];
  if (term[0] == 'r' || term[0] == 'b' || term[0] == 'a') term[(*random)() % 2] = static_cast<char>('a' + (*random)() % 4);
  const std::string& ending = endings[(*random)() % endings.size()];
  // The analyzer would split these combinations into two words.
  const auto is_hangul = [](const std::string& text) { return text.starts_with("서") || text.starts_with("대") || text.starts_with("시"); };
  if ((term.ends_with('0') && ending == "'s") || (!ending.empty() && is_hangul(term) != is_hangul(ending))) return term;
  return RandomBeginning(random, is_hangul(term)) + term + ending;
}

TEST(word_expander_agrees_with_a_model_of_the_dictionary) {
  std::mt19937 random(7);
  size_t compounds = 0;
  for (const char* language : {"en", "ru", "de", "none"}) {
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
      const ExpansionLimits limits = round % 4 == 0 ? ExpansionLimits{few, few, few, few} : ExpansionLimits{1000, 1000, 1000, 1000};
      const WordExpansion found = list.Expand(word, edits, limits);
      WordExpansion expected = list.Expected(word, edits, limits);
      CHECK_EQ(found.document_frequency, expected.document_frequency);
      CHECK(found.stems == expected.stems);
      CHECK(found.typos == expected.typos);
      CHECK(found.prefixes == expected.prefixes);
      CHECK(found.compounds == expected.compounds);
      compounds += found.compounds.size();
    }
  }
  CHECK(compounds > 100);
}

std::vector<std::pair<std::string, uint32_t>> Outline(const std::vector<TermMatch>& matches) {
  std::vector<std::pair<std::string, uint32_t>> outline;
  for (const TermMatch& match : matches) outline.emplace_back(match.term, match.distance);
  return outline;
}

// Builds segments of random texts with consecutive record numbers.
class RandomSegments {
 public:
  RandomSegments(const char* language, std::mt19937* random) : random_(random) { schema_.language = language; }

  // Each document has one word and at most `more` further ones.
  std::shared_ptr<const Segment> Build(uint32_t documents, uint32_t more) {
    std::vector<DocumentWriter> writers;
    for (; documents > 0; --documents) {
      std::string text = RandomTerm(random_);
      for (uint32_t words = (*random_)() % (more + 1); words > 0; --words) text += " " + RandomTerm(random_);
      writers.push_back(DocumentWriter(record_number_++).Text(0, text));
    }
    return folder_.Build(schema_, writers);
  }
  std::shared_ptr<const Segment> Merge(const std::vector<MergeSource>& sources, SegmentSummary* summary) {
    const std::string path = folder_.path() / ("merged-" + std::to_string(merges_++) + ".mdb");
    *summary = MergeSegments(path, schema_, sources);
    return Segment::Open(path);
  }

 private:
  std::mt19937* random_;
  TemporaryFolder folder_;
  SegmentSchema schema_{{1}, {}};
  uint32_t record_number_ = 0;
  uint32_t merges_ = 0;
};

// Segments are added and removed as by writes. A name stands for the same expansion in every generation that returns it.
TEST(expansion_names_stand_for_one_expansion_in_all_generations) {
  std::mt19937 random(23);
  const ExpansionLimits limits = {32, 128, 0, 128};
  for (const char* language : {"en", "de", "none"}) {
    RandomSegments segments(language, &random);
    const auto make_segment = [&](uint32_t documents) { return SegmentView{segments.Build(documents, 2), {}}; };
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
          CHECK(found.document_frequency == 0 && found.stems.empty() && found.typos.empty() &&
                found.compounds.empty());
          continue;
        }
        const auto [entry, is_new] = known.try_emplace(names[i], words[i] + std::to_string(edits[i]), found);
        repeated += !is_new;
        const auto& [question, expansion] = entry->second;
        CHECK_EQ(question, words[i] + std::to_string(edits[i]));
        CHECK_EQ(expansion.document_frequency > 0, found.document_frequency > 0);
        CHECK(Outline(expansion.stems) == Outline(found.stems));
        CHECK(Outline(expansion.typos) == Outline(found.typos));
        CHECK(Outline(expansion.compounds) == Outline(found.compounds));
      }
      std::vector<std::shared_ptr<const Segment>> removed;
      // Removes all small segments in every ninth round, as a merge does.
      for (const SegmentView& view : generation->segments) {
        if (view.segment->document_count() < 60 && round % 9 == 8) removed.push_back(view.segment);
      }
      std::vector<SegmentView> added;
      if (round % 3 != 2) added.push_back(make_segment(1 + random() % 2));
      generation = DeriveGeneration(generation.get(), added, removed, {}, "{}");
    }
    CHECK(repeated > 500);  // Otherwise names would be useless.
  }
}

std::set<std::string> TermsOf(const std::vector<TermMatch>& matches) {
  std::set<std::string> terms;
  for (const TermMatch& match : matches) terms.insert(match.term);
  return terms;
}

// Documents are added and deleted and segments merged, as by writes. A word that is not affected since a vocabulary has the same expansion.
TEST(vocabularies_affect_every_word_whose_expansion_changed) {
  std::mt19937 random(29);
  const ExpansionLimits all = {1000, 1000, 0, 1000};
  for (const char* language : {"en", "ru", "de", "none"}) {
    RandomSegments segments(language, &random);
    auto generation = DeriveGeneration(nullptr, {{segments.Build(700, 1), {}}}, {}, {}, "{}");
    struct Kept {
      uint64_t vocabulary;
      WordExpansion expansion;
    };
    std::map<std::pair<std::string, uint32_t>, Kept> kept;
    uint32_t unaffected = 0;
    uint32_t merges = 0;
    uint32_t losing = 0;
    uint32_t drops = 0;
    for (uint32_t round = 0; round < 150; ++round) {
      for (uint32_t i = 0; i < 20; ++i) {
        const std::vector<std::string> word = {RandomTerm(&random)};
        const std::vector<uint32_t> edits = {static_cast<uint32_t>(random() % 3)};
        const WordExpansion now = ExpandWords(*generation, word, edits, all)[0];
        const auto found = kept.find({word[0], edits[0]});
        if (found != kept.end()) {
          const std::vector<uint64_t> name = {found->second.vocabulary};
          if (!FindAffectedWords(*generation, word, edits, name)[0]) {
            ++unaffected;
            const WordExpansion& before = found->second.expansion;
            CHECK_EQ(before.document_frequency > 0, now.document_frequency > 0);
            CHECK(TermsOf(before.stems) == TermsOf(now.stems));
            CHECK(TermsOf(before.typos) == TermsOf(now.typos));
            CHECK(TermsOf(before.compounds) == TermsOf(now.compounds));
          }
        }
        kept.insert_or_assign({word[0], edits[0]}, Kept{generation->vocabulary.name, now});
      }
      std::vector<MergeSource> sources;
      for (const SegmentView& view : generation->segments) {
        if (round % 5 != 4 || view.segment->document_count() >= 60) continue;
        std::vector<uint8_t> deleted((view.segment->document_count() + 7) / 8);
        for (uint32_t document = 0; document < view.segment->document_count(); ++document) {
          if (view.deletions.Contains(document)) deleted[document / 8] |= static_cast<uint8_t>(1 << document % 8);
        }
        sources.push_back({view.segment, deleted});
      }
      const auto has_live = [&](const MergeSource& source) {
        const auto view = std::ranges::find(generation->segments, source.segment, &SegmentView::segment);
        return view->deletions.deleted_count < source.segment->document_count();
      };
      std::optional<std::vector<std::string>> gone;
      SegmentView added;
      std::vector<std::shared_ptr<const Segment>> removed;
      std::vector<SegmentDeletions> deletions;
      if (sources.size() > 1 && std::ranges::any_of(sources, has_live)) {
        ++merges;
        SegmentSummary merged;
        added.segment = segments.Merge(sources, &merged);
        const auto lost = FindLostTerms(*generation, sources, merged.lost_terms);
        if (lost) added.changed_terms = std::make_shared<const std::vector<std::string>>(*lost);
        if (lost && !lost->empty()) ++losing;
        for (const MergeSource& source : sources) removed.push_back(source.segment);
      } else if (!sources.empty() && std::ranges::none_of(sources, has_live)) {
        ++drops;
        gone = FindLostTerms(*generation, sources);
        CHECK(gone.has_value());
        for (const MergeSource& source : sources) removed.push_back(source.segment);
      } else {
        added.segment = segments.Build(1, 1);
        const auto terms = FindNewTerms(*generation, *added.segment);
        CHECK(terms.has_value());
        added.changed_terms = std::make_shared<const std::vector<std::string>>(*terms);
        // Deletes a document of a random segment, so that merges leave some out.
        const SegmentView& any = generation->segments[random() % generation->segments.size()];
        if (random() % 2 == 0) deletions.push_back({any.segment, {static_cast<uint32_t>(random() % any.segment->document_count())}});
      }
      std::vector<SegmentView> all_added;
      if (added.segment) all_added.push_back(added);
      generation = DeriveGeneration(generation.get(), all_added, removed, deletions, "{}", {}, gone ? &*gone : nullptr);
    }
    CHECK(unaffected > 300);  // Otherwise vocabularies would be useless.
    CHECK(merges > 10);
    CHECK(losing > 0);
  }
}

TEST(vocabularies_get_a_new_root_after_large_or_unknown_changes) {
  TemporaryFolder folder;
  const SegmentSchema schema{{1}, {}};
  uint32_t record_number = 0;
  const auto make_segment = [&](uint32_t documents, const std::string& text) {
    std::vector<DocumentWriter> writers;
    for (; documents > 0; --documents) writers.push_back(DocumentWriter(record_number++).Text(0, text));
    return folder.Build(schema, writers);
  };
  const auto with = [&](const std::shared_ptr<const Generation>& base, SegmentView added) {
    const auto terms = FindNewTerms(*base, *added.segment);
    if (terms) added.changed_terms = std::make_shared<const std::vector<std::string>>(*terms);
    return DeriveGeneration(base.get(), {added}, {}, {}, "{}");
  };
  const auto first = DeriveGeneration(nullptr, {{make_segment(640, "gannet tern"), {}}}, {}, {}, "{}");
  const auto same = with(first, {make_segment(2, "tern gannet"), {}});
  CHECK_EQ(same->vocabulary.name, first->vocabulary.name);
  const auto other = with(same, {make_segment(1, "cormorant"), {}});
  CHECK(other->vocabulary.name != first->vocabulary.name);
  CHECK_EQ(other->vocabulary.root, first->vocabulary.root);
  const std::vector<std::string> words = {"cormorants", "tern", "cormorant", "cormoramt"};
  const std::vector<uint32_t> edits = {2, 1, 0, 1};
  const auto affected = [&](const Generation& generation, uint64_t name) {
    return FindAffected(generation.vocabulary, words, edits, std::vector<uint64_t>(words.size(), name));
  };
  CHECK((affected(*other, first->vocabulary.name) == std::vector<bool>{true, false, true, true}));
  CHECK(affected(*other, other->vocabulary.name) == std::vector<bool>(4, false));
  CHECK(affected(*first, other->vocabulary.name) == std::vector<bool>(4, true));
  CHECK(affected(*other, 0) == std::vector<bool>(4, true));
  // Segments that add up to a sixty-fourth of the documents begin a new root.
  const auto more = with(other, {make_segment(8, "tern"), {}});
  CHECK(more->vocabulary.root != first->vocabulary.root);
  // Unknown changes begin a new root.
  const auto unknown = DeriveGeneration(other.get(), {{make_segment(1, "tern"), {}}}, {}, {}, "{}");
  CHECK(unknown->vocabulary.root != first->vocabulary.root);
  const auto gone = DeriveGeneration(other.get(), {}, {other->segments[2].segment}, {}, "{}");
  CHECK(gone->vocabulary.root != first->vocabulary.root);
  // Known lost terms affect only the words that may stand for them.
  const std::vector<std::string> cormorant = {"cormorant"};
  const auto without = DeriveGeneration(other.get(), {}, {other->segments[2].segment}, {}, "{}", {}, &cormorant);
  CHECK_EQ(without->vocabulary.root, first->vocabulary.root);
  CHECK((affected(*without, other->vocabulary.name) == std::vector<bool>{true, false, true, true}));
  const auto deleted = DeriveGeneration(other.get(), {}, {}, {{other->segments[0].segment, {1, 2}}}, "{}");
  CHECK_EQ(deleted->vocabulary.name, other->vocabulary.name);
  CHECK_THROWS(kInvalidArgument, FindAffected(first->vocabulary, words, std::vector<uint32_t>{1}, std::vector<uint64_t>(4)));
}

TEST(vocabularies_forget_their_oldest_changes) {
  TemporaryFolder folder;
  const SegmentSchema schema{{1}, {}};
  auto generation = DeriveGeneration(nullptr, {{folder.Build(schema, {DocumentWriter(0).Text(0, "gannet")}), {}}}, {}, {}, "{}");
  Vocabulary vocabulary = generation->vocabulary;
  const uint64_t root = vocabulary.root;
  const Segment* segment = generation->segments[0].segment.get();
  const auto affected = [&](const std::string& word, uint64_t name) {
    return static_cast<bool>(FindAffected(vocabulary, std::vector{word}, std::vector<uint32_t>{0}, std::vector{name})[0]);
  };
  std::vector<uint64_t> names = {vocabulary.name};
  for (uint32_t change = 0; change <= kChangedTermsMax; ++change) {
    const std::vector<std::string> terms = {"w" + std::to_string(change)};
    const SegmentTerms added{segment, &terms};
    vocabulary = NextVocabulary(&vocabulary, {{&added, 1}, {}}, 1u << 30);
    names.push_back(vocabulary.name);
    CHECK_EQ(vocabulary.root, root);
    CHECK_EQ(affected("gannet", names[0]), change == kChangedTermsMax);
  }
  CHECK_EQ(vocabulary.term_count_since, kChangedTermsMax);
  CHECK(!affected("gannet", names[1]));
  CHECK(affected("w1", names[1]));
  CHECK(!affected("w1", names[2]));
  CHECK(!affected("gannet", vocabulary.name));
}

TEST(new_and_lost_terms_are_unknown_if_there_are_too_many) {
  TemporaryFolder folder;
  const SegmentSchema schema{{1}, {}};
  const auto base = DeriveGeneration(nullptr, {{folder.Build(schema, {DocumentWriter(0).Text(0, "gannet")}), {}}}, {}, {}, "{}");
  const auto text = [](size_t words) {
    std::string all;
    for (size_t word = 0; word < words; ++word) all += "w" + std::to_string(word) + " ";
    return all;
  };
  const auto count = [&](const std::string& words) {
    const auto found = FindNewTerms(*base, *folder.Build(schema, {DocumentWriter(1).Text(0, words)}));
    return found ? static_cast<int64_t>(found->size()) : -1;
  };
  CHECK_EQ(count("gannet"), 0);
  CHECK_EQ(count(text(kNewTermsMax)), static_cast<int64_t>(kNewTermsMax));
  CHECK_EQ(count(text(kNewTermsMax + 1)), -1);
  CHECK_EQ(count(text(kSoughtTermsMax + 1)), -1);
  CHECK_EQ(count(std::string(600, 'a')), -1);  // Its key is shortened.
  const auto lost = [&](const std::string& words) {
    const MergeSource source{folder.Build(schema, {DocumentWriter(1).Text(0, words)}), {}};
    const auto found = FindLostTerms(*DeriveGeneration(base.get(), {{source.segment, {}}}, {}, {}, "{}"), std::span(&source, 1));
    return found ? static_cast<int64_t>(found->size()) : -1;
  };
  CHECK_EQ(lost("gannet tern"), 1);
  CHECK_EQ(lost(text(kNewTermsMax)), static_cast<int64_t>(kNewTermsMax));
  CHECK_EQ(lost(text(kNewTermsMax + 1)), -1);
  CHECK_EQ(lost(text(kSoughtTermsMax + 1)), -1);
  CHECK_EQ(lost(std::string(600, 'a')), -1);
}

TEST(expansion_names_refuse_invalid_edit_distances) {
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
    // A form takes at least five bytes.
    CHECK(found.typos.size() * 5 > kCachedSpellingBytesMax);
  }
}

TEST(word_expander_expands_no_numbers_and_refuses_limits_out_of_range) {
  const KnownList list("en", {{"xr500 xr501 xr500s xr5000"}});
  const WordExpansion found = list.Expand("xr500", 2, {10, 10, 10});
  CHECK(found.stems.empty() && found.typos.empty() &&
                found.compounds.empty());
  CHECK_EQ(found.prefixes.size(), 2u);
  CHECK_THROWS(kInvalidArgument, list.Expand("word", 3, {1, 1, 1}));
  CHECK_THROWS(kInvalidArgument, list.Expand("word", 1, {kExpandedTermsMax + 1, 1, 1}));
}

}  // namespace
}  // namespace gannet::test
