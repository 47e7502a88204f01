// Tests how longer words of a word count beside the word itself. search_property_test.cc tests that all evaluators agree on it.
#include "../kernel/query/longer_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "../kernel/query/prepared_query.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

struct Counts {
  uint32_t exact = 0;
  uint32_t longer = 0;
};

// A list of texts of twelve words each, with the counts of the word and its longer words in each.
class CountedList {
 public:
  explicit CountedList(std::mt19937* random) {
    std::vector<SegmentView> views;
    for (uint32_t segments = 1 + (*random)() % 3; segments > 0; --segments) {
      std::vector<DocumentWriter> writers;
      for (uint32_t documents = 1 + (*random)() % 40; documents > 0; --documents) {
        const auto record = static_cast<uint32_t>(counts_.size());
        writers.push_back(DocumentWriter(record).Text(0, MakeText(random)));
      }
      views.push_back({folder_.Build(schema_, writers), {}});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, {}, "{}");
  }

  const Generation& generation() const { return *generation_; }
  const Counts& counts(uint32_t record) const { return counts_[record]; }

 private:
  std::string MakeText(std::mt19937* random) {
    static const std::vector<std::string> longer = {"서울시", "서울역", "서울만"};
    constexpr uint32_t kWords = 12;
    Counts counts;
    if ((*random)() % 2 == 0) counts.exact = (*random)() % 3;
    counts.longer = (*random)() % (kWords - 2);
    std::string text;
    for (uint32_t i = 0; i < kWords; ++i) {
      text += i < counts.exact ? "서울" : i < counts.exact + counts.longer ? longer[(*random)() % longer.size()] : "산";
      text += " ";
    }
    counts_.push_back(counts);
    return text;
  }

  // The field of the greatest weight is empty.
  SegmentSchema schema_{{3, 7}, {}};
  TemporaryFolder folder_;
  std::vector<Counts> counts_;
  std::shared_ptr<const Generation> generation_;
};

PlanGroup SeoulGroup() {
  return Group(Occur::kShould, {{1, {"서울"}},
                                {0.6f, {"서울시"}, AlternativeKind::kCompound},
                                {0.6f, {"서울역"}, AlternativeKind::kCompound},
                                {0.6f, {"서울만"}, AlternativeKind::kCompound}});
}

// True if `a` must not rank behind `b`, all else being equal.
bool IsBetter(const Counts& a, const Counts& b) {
  if ((a.exact > 0) != (b.exact > 0)) return a.exact > 0;
  return a.exact >= b.exact && a.longer >= b.longer;
}

TEST(longer_words_never_rank_before_the_word_itself) {
  std::mt19937 random(5);
  size_t compared = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    const CountedList list(&random);
    QueryPlan plan;
    plan.size = 1000;
    plan.flags = kNeedTotal;
    plan.groups.push_back(SeoulGroup());
    const Result result = RunSearch(list.generation(), plan);
    for (size_t i = 1; i < result.hits.size(); ++i) {
      ++compared;
      const ResultHit& before = result.hits[i - 1];
      const ResultHit& behind = result.hits[i];
      const Counts& a = list.counts(before.record_number);
      const Counts& b = list.counts(behind.record_number);
      CHECK(!IsBetter(b, a) || before.score == behind.score);
      CHECK(a.exact > 0 || b.exact == 0);
      CHECK((a.exact > 0) == (b.exact > 0) || before.score > behind.score);
      // Equal counts have equal scores.
      CHECK((a.exact != b.exact || a.longer != b.longer) || before.score == behind.score);
    }
  }
  CHECK(compared > 500);
}

TEST(longer_words_score_by_their_number_and_add_to_the_word_itself) {
  TemporaryFolder folder;
  const auto segment = folder.Build({{1}, {}}, {
                                                   DocumentWriter(0).Text(0, "서울 산 산 산"),
                                                   DocumentWriter(1).Text(0, "서울시 산 산 산"),
                                                   DocumentWriter(2).Text(0, "서울시 서울역 서울역 산"),
                                                   DocumentWriter(3).Text(0, "서울 서울시 서울역 산"),
                                                   DocumentWriter(4).Text(0, "서울 서울 산 산"),
                                               });
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "{}");
  QueryPlan plan;
  plan.size = 10;
  plan.flags = kNeedTotal;
  plan.groups.push_back(SeoulGroup());
  std::vector<uint32_t> order;
  for (const ResultHit& hit : RunSearch(*generation, plan).hits) order.push_back(hit.record_number);
  CHECK(order == std::vector<uint32_t>({3, 4, 0, 2, 1}));
  // Excluding the word excludes its longer words, too.
  plan.groups.push_back(Word("산"));
  plan.groups[0].occur = Occur::kMustNot;
  CHECK(RunSearch(*generation, plan).hits.empty());
}

struct SummedPosting {
  uint32_t document;
  uint32_t frequency;
  bool operator==(const SummedPosting&) const = default;
};

std::vector<SummedPosting> PostingsOf(const PostingList& list) {
  std::vector<SummedPosting> postings;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    std::array<uint32_t, kBlockSize> documents, frequencies;
    list.DecodeDocuments(block, documents.data());
    list.DecodeFrequencies(block, frequencies.data());
    for (uint32_t i = 0; i < list.block_length(block); ++i) postings.push_back({documents[i], frequencies[i]});
  }
  return postings;
}

// The words occur in many documents and in few, which may be far apart.
TEST(longer_words_are_summed_however_far_apart_they_are) {
  std::mt19937 random(11);
  constexpr uint32_t kDocuments = 12'000;
  for (const uint32_t one_in : {2u, 50u, 3000u}) {
    TemporaryFolder folder;
    std::vector<DocumentWriter> writers;
    std::vector<SummedPosting> expected;
    for (uint32_t document = 0; document < kDocuments; ++document) {
      const bool has_exact = random() % 3 == 0;
      const uint32_t cities = random() % one_in == 0 ? 1 + random() % 3 : 0;
      const uint32_t stations = random() % (2 * one_in) == 0;
      std::string text = has_exact ? "서울 산" : "산";
      for (uint32_t i = 0; i < cities; ++i) text += " 서울시";
      for (uint32_t i = 0; i < stations; ++i) text += " 서울역";
      writers.push_back(DocumentWriter(document).Text(0, text));
      const double sum = double{0.6f} * cities + double{0.5f} * stations;
      if (sum == 0) continue;
      const double share = has_exact ? sum : sum / (sum + (1 - double{0.6f}));
      expected.push_back({document, static_cast<uint32_t>(share * kJoinedSteps)});
    }
    const auto generation = DeriveGeneration(nullptr, {{folder.Build({{1}, {}}, writers), {}}}, {}, {}, "{}");
    QueryPlan plan;
    plan.groups.push_back(Group(Occur::kShould, {{1, {"서울"}},
                                                 {0.6f, {"서울시"}, AlternativeKind::kCompound},
                                                 {0.5f, {"서울역"}, AlternativeKind::kCompound}}));
    const PreparedQuery query = PrepareQuery(*generation, plan, true);
    CHECK(PostingsOf(query.joined_lists[0][0].list) == expected);
  }
}

TEST(longer_words_of_enough_weight_match_a_whole_field) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> writers = {DocumentWriter(0).Text(0, "서울시"), DocumentWriter(1).Text(0, "서울")};
  const auto generation = DeriveGeneration(nullptr, {{folder.Build({{1}, {}}, writers), {}}}, {}, {}, "{}");
  const auto bonuses = [&](float weight) {
    QueryPlan plan;
    plan.size = 10;
    plan.groups.push_back(Group(Occur::kShould, {{1, {"서울"}}, {weight, {"서울시"}, AlternativeKind::kCompound}}));
    plan.whole = {0};
    plan.whole_field_weight = 1;
    const PreparedQuery query = PrepareQuery(*generation, plan, true);
    return query.whole.matches.empty() ? 0 : query.whole.matches[0]->size();
  };
  CHECK_EQ(bonuses(kWholeFieldTermWeightMin), size_t{2});
  CHECK_EQ(bonuses(0.6f), size_t{1});
}

// Uses as many and as long words as a group may have.
TEST(longer_words_are_summed_once_for_the_same_query) {
  TemporaryFolder folder;
  std::vector<std::string> longer;
  std::string text = "เรียน";
  for (uint32_t i = 0; i < 500; ++i) {
    std::string word = "โรง";
    for (uint32_t letter = 0; letter < 10; ++letter) word += (i >> letter & 1) != 0 ? "กก" : "ขข";
    longer.push_back(word + "เรียน");
    text += " " + longer.back();
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build({{1}, {}}, {DocumentWriter(0).Text(0, text)}), {}}}, {}, {}, "{}");
  QueryPlan plan;
  plan.groups.push_back(Group(Occur::kShould, {{1, {"เรียน"}}}));
  for (const std::string& word : longer) plan.groups[0].alternatives.push_back({0.6f, {word}, AlternativeKind::kCompound});
  const PreparedQuery query = PrepareQuery(*generation, plan, true);
  CHECK_EQ(query.groups[0].longer.size(), size_t{500});
  CHECK(PrepareQuery(*generation, plan, true).joined_bytes == query.joined_bytes);
  // Other weights, or another kind of one word, make another sum.
  plan.groups[0].alternatives[7].weight = 0.5f;
  CHECK(PrepareQuery(*generation, plan, true).joined_bytes != query.joined_bytes);
  plan.groups[0].alternatives[7] = {0.6f, {longer[6]}, AlternativeKind::kSynonym};
  CHECK(PrepareQuery(*generation, plan, true).joined_bytes != query.joined_bytes);
}

}  // namespace
}  // namespace gannet::test
