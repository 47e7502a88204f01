// Checks that a search in some text fields returns exactly the bytes that a list with only these fields returns.
#include "../kernel/generation/narrowed_generation.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "../kernel/segment/narrowed_segment.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

constexpr uint32_t kFields = 3;
const std::vector<std::vector<uint32_t>> kSubsets = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

std::vector<uint32_t> WeightsOf(std::span<const uint32_t> fields, std::span<const uint32_t> weights) {
  std::vector<uint32_t> units;
  uint32_t unit = 0;
  for (const uint32_t field : fields) {
    units.push_back(weights[field]);
    unit = std::gcd(unit, weights[field]);
  }
  for (uint32_t& each : units) each /= unit;
  return units;
}

// Two lists of the same documents: one has all fields, the other some of them.
class TwoLists {
 public:
  TwoLists(std::mt19937* random, std::span<const uint32_t> fields) {
    static const std::vector<std::vector<uint32_t>> kWeights = {{1, 1, 1}, {4, 2, 1}, {1, 6, 3}};
    const std::vector<uint32_t>& weights = kWeights[(*random)() % kWeights.size()];
    const std::vector<ColumnMeta> columns = {{"kind", ColumnType::kString, false}};
    std::vector<SegmentView> all, some;
    std::vector<SegmentDeletions> deleted_of_all, deleted_of_some;
    uint32_t record = 0;
    for (uint32_t segments = 1 + (*random)() % 3; segments > 0; --segments) {
      std::vector<DocumentWriter> with_all, with_some;
      std::vector<uint32_t> deleted;
      const uint32_t documents = 1 + (*random)() % ((*random)() % 4 == 0 ? 700 : 40);
      for (uint32_t document = 0; document < documents; ++document, ++record) {
        with_all.emplace_back(record).String(0, "kind" + std::to_string(record % 3));
        with_some.emplace_back(record).String(0, "kind" + std::to_string(record % 3));
        for (uint32_t field = 0; field < kFields; ++field) {
          const auto place = std::ranges::find(fields, field);
          for (uint32_t values = (*random)() % 3; values > 0; --values) {
            const std::string text = MakeText(random);
            with_all.back().Text(static_cast<uint16_t>(field), text);
            if (place != fields.end()) with_some.back().Text(static_cast<uint16_t>(place - fields.begin()), text);
          }
        }
        if ((*random)() % 8 == 0) deleted.push_back(document);
      }
      all.push_back({folder_.Build({weights, columns}, with_all), {}});
      some.push_back({folder_.Build({WeightsOf(fields, weights), columns}, with_some), {}});
      deleted_of_all.push_back({all.back().segment, deleted});
      deleted_of_some.push_back({some.back().segment, deleted});
    }
    all_ = DeriveGeneration(nullptr, all, {}, deleted_of_all, "{}");
    some_ = DeriveGeneration(nullptr, some, {}, deleted_of_some, "{}");
  }

  const Generation& all() const { return *all_; }
  const Generation& some() const { return *some_; }

 private:
  static std::string MakeText(std::mt19937* random) {
    static const std::vector<std::string> words = {"sea", "gull", "seagull", "cliff", "first_name", "www.cliff.org", "parseSeaName", "the"};
    std::string text;
    for (uint32_t count = (*random)() % 7; count > 0; --count) {
      const size_t end = 1 + (*random)() % words.size();
      text += words[(*random)() % end] + " ";
    }
    return text;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const Generation> all_;
  std::shared_ptr<const Generation> some_;
};

QueryPlan MakePlan(std::mt19937* random) {
  static const std::vector<std::string_view> words = {"sea", "gull", "cliff", "name", "first", "parse", "the", "org"};
  QueryPlan plan;
  plan.flags = kNeedTotal | kExplain;
  plan.size = (*random)() % 4 == 0 ? 0 : 1 + (*random)() % 60;
  plan.proximity_weight = (*random)() % 2 == 0 ? 0.3f : 0;
  plan.whole_field_weight = (*random)() % 2 == 0 ? 0.3f : 0;
  plan.minimum_score = (*random)() % 4 == 0 ? 0.2f : 0;
  for (uint32_t count = 1 + (*random)() % 3; count > 0; --count) {
    const auto occur = static_cast<Occur>((*random)() % 8 == 0 ? 2 : (*random)() % 2);
    const std::string_view word = words[(*random)() % words.size()];
    std::vector<PlanAlternative> alternatives{{1, {word}}};
    if ((*random)() % 3 == 0) alternatives.push_back({0.4f, {"clif"}, AlternativeKind::kTypo});
    if ((*random)() % 3 == 0) alternatives.push_back({0.6f, {"seagull"}, AlternativeKind::kCompound});
    if ((*random)() % 3 == 0) alternatives.push_back({0.9f, {"sea", "gull"}, AlternativeKind::kSynonym});
    if ((*random)() % 3 == 0) alternatives.push_back({0.8f, {"first", "name"}, AlternativeKind::kSynonym});
    plan.groups.push_back(Group(occur, alternatives));
    const auto group = static_cast<uint16_t>(plan.groups.size() - 1);
    if (occur == Occur::kMustNot) continue;
    plan.sequence.push_back(group);
    plan.whole.push_back(group);
  }
  if ((*random)() % 3 == 0) {
    plan.filter.op = FilterOp::kEqual;
    plan.filter.values.push_back({false, 0, "kind1"});
  }
  if ((*random)() % 3 == 0) plan.sort_keys.push_back({SortBy::kColumn, true, 0, {}});
  if ((*random)() % 2 == 0) plan.facets.push_back({0, 10});
  return plan;
}

TEST(search_in_some_fields_equals_a_search_of_a_list_with_only_these) {
  std::mt19937 random(31);
  uint32_t found = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    const std::vector<uint32_t>& fields = kSubsets[random() % kSubsets.size()];
    const TwoLists lists(&random, fields);
    for (uint32_t searches = 0; searches < 20; ++searches) {
      QueryPlan plan = MakePlan(&random);
      const std::vector<uint8_t> expected = Search(lists.some(), EncodePlan(plan));
      const std::vector<uint32_t> numbers = CollectRecordNumbers(lists.some(), EncodePlan(plan));
      plan.text_fields = fields;
      CHECK(Search(lists.all(), EncodePlan(plan)) == expected);
      CHECK(CollectRecordNumbers(lists.all(), EncodePlan(plan)) == numbers);
      found += DecodeResult(expected).total_count > 0;
    }
  }
  CHECK(found > 400);
}

TEST(search_in_unknown_or_repeated_fields_is_refused) {
  std::mt19937 random(2);
  const TwoLists lists(&random, kSubsets[0]);
  QueryPlan plan;
  plan.groups.push_back(Word("sea"));
  plan.text_fields = {0, 3};
  CHECK_THROWS(kInvalidArgument, Search(lists.all(), EncodePlan(plan)));
  plan.text_fields = {1, 1};
  CHECK_THROWS(kInvalidArgument, Search(lists.all(), EncodePlan(plan)));
}

TEST(narrowed_lists_are_cached_for_other_searches_and_bounded) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> writers;
  // Each document has its own word, and all of them exceed the room for narrowed lists.
  constexpr uint32_t kDocuments = 3000;
  for (uint32_t document = 0; document < kDocuments; ++document) {
    writers.push_back(DocumentWriter(document).Text(0, "word" + std::to_string(document)).Text(1, "sea"));
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build({{1, 1}, {}}, writers), {}}}, {}, {}, "{}");
  const std::vector<uint32_t> fields = {0};
  const ListsOfSearch search;
  const auto narrowed = NarrowGeneration(*generation, fields);
  CHECK(NarrowGeneration(*generation, fields) == narrowed);
  const auto& segment = static_cast<const NarrowedSegment&>(*narrowed->segments[0].segment);
  CHECK_EQ(segment.FindTerm("sea").document_frequency(), 0u);
  // A list that a search uses stays while others are made.
  const PostingList first = segment.FindTerm("word0");
  for (uint32_t document = 0; document < kDocuments; ++document) {
    CHECK_EQ(segment.FindTerm("word" + std::to_string(document)).last_document(0), document);
  }
  CHECK(segment.is_full());
  CHECK_EQ(first.last_document(0), 0u);
  const auto anew = NarrowGeneration(*generation, fields);
  CHECK(anew != narrowed);
  CHECK(!static_cast<const NarrowedSegment&>(*anew->segments[0].segment).is_full());
  // The new segment makes the same lists.
  CHECK(anew->segments[0].segment->FindTerm("word7").at() == segment.FindTerm("word7").at());
  CHECK_EQ(anew->segments[0].segment->FindTerm("word7").last_document(0), 7u);
}

// Words in every document, in another order in each: two lists of documents with a field more, and with the one alone.
struct ManyFrequentWords {
  static constexpr uint32_t kDocuments = 2000;
  static constexpr uint32_t kWords = 40;
  static constexpr size_t kListBytes = 10 << 10;  // more than one of the lists has

  ManyFrequentWords() {
    std::mt19937 random(5);
    std::vector<DocumentWriter> with_all, with_some;
    std::vector<std::string> words;
    for (uint32_t word = 0; word < kWords; ++word) words.push_back(WordOf(word));
    for (uint32_t document = 0; document < kDocuments; ++document) {
      std::ranges::shuffle(words, random);
      std::string text;
      for (const std::string& word : words) text += word + " ";
      with_all.push_back(DocumentWriter(document).Text(0, text).Text(1, "sea " + words[0]));
      with_some.push_back(DocumentWriter(document).Text(0, text));
    }
    all = DeriveGeneration(nullptr, {{folder.Build({{1, 1}, {}}, with_all), {}}}, {}, {}, "{}");
    some = DeriveGeneration(nullptr, {{folder.Build({{1}, {}}, with_some), {}}}, {}, {}, "{}");
  }
  static std::string WordOf(uint32_t word) { return "word" + std::to_string(word); }

  TemporaryFolder folder;
  std::shared_ptr<const Generation> all;
  std::shared_ptr<const Generation> some;
};

TEST(search_in_some_fields_that_makes_more_lists_than_may_stay_finds_the_same_and_lets_go_of_them) {
  const ManyFrequentWords lists;
  const std::vector<uint32_t> fields = {0};
  const Segment& segment = *lists.all->segments[0].segment;
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 20;
  const auto search = [&](uint32_t words) {
    plan.groups.clear();
    plan.text_fields.clear();
    std::vector<std::string> names;
    for (uint32_t word = 0; word < words; ++word) names.push_back(ManyFrequentWords::WordOf(word));
    for (const std::string& name : names) plan.groups.push_back(Word(name));
    const std::vector<uint8_t> expected = Search(*lists.some, EncodePlan(plan));
    plan.text_fields = fields;
    CHECK(Search(*lists.all, EncodePlan(plan)) == expected);
    CHECK_EQ(DecodeResult(expected).total_count, ManyFrequentWords::kDocuments);
  };
  search(2);
  const size_t bytes_max = kNarrowedListsBytes.Of(ManyFrequentWords::kDocuments);
  const auto few = segment.narrowed().Find(fields);
  CHECK(few != nullptr && !few->is_full() && few->kept_bytes() > 0);
  for (uint32_t times = 0; times < 3; ++times) {
    search(ManyFrequentWords::kWords);
    const auto full = segment.narrowed().Find(fields);
    CHECK(full->is_full() && full->kept_bytes() <= bytes_max && full->kept_bytes() + ManyFrequentWords::kListBytes > bytes_max);
    search(2);
    CHECK(!segment.narrowed().Find(fields)->is_full());
  }
}

constexpr size_t kBytesMax = 50'000;
const std::vector<uint32_t> kFirstField = {0};

// Looks for all words, and adds their lists.
void FindAll(const Segment& segment, std::vector<PostingList>* found) {
  for (uint32_t word = 0; word < ManyFrequentWords::kWords; ++word) {
    found->push_back(segment.FindTerm(ManyFrequentWords::WordOf(word)));
  }
}

TEST(narrowed_lists_of_one_search_are_bounded) {
  const ManyFrequentWords lists;
  const NarrowedSegment segment(lists.all->segments[0].segment.get(), kFirstField);
  const ListsOfSearch search(kBytesMax);
  std::vector<PostingList> made;
  CHECK_THROWS(kLimit, FindAll(segment, &made));
  CHECK(made.size() > kBytesMax / ManyFrequentWords::kListBytes && made.size() < ManyFrequentWords::kWords);
  // What was made before can still be found, and is right.
  for (uint32_t word = 0; word < made.size(); ++word) {
    const PostingList again = segment.FindTerm(ManyFrequentWords::WordOf(word));
    CHECK(again.at() == made[word].at());
    CHECK_EQ(again.document_frequency(), ManyFrequentWords::kDocuments);
  }
}

TEST(narrowed_lists_of_other_searches_do_not_count) {
  const ManyFrequentWords lists;
  const NarrowedSegment segment(lists.all->segments[0].segment.get(), kFirstField);
  std::vector<PostingList> kept;
  std::thread([&] {
    const ListsOfSearch search(kBytesMax);
    CHECK_THROWS(kLimit, FindAll(segment, &kept));
  }).join();
  const size_t bytes = segment.kept_bytes();
  CHECK(segment.is_full() && bytes > 0);
  const ListsOfSearch search(kBytesMax);
  // "sea" is not in the field, but its empty list has to be made.
  CHECK_EQ(segment.FindTerm("sea").document_frequency(), 0u);
  CHECK_EQ(segment.FindTerm(ManyFrequentWords::WordOf(ManyFrequentWords::kWords - 1)).document_frequency(),
           ManyFrequentWords::kDocuments);
}

TEST(narrowed_lists_of_one_search_are_bounded_over_all_segments) {
  const ManyFrequentWords first;
  const ManyFrequentWords second;
  const NarrowedSegment segments[] = {{first.all->segments[0].segment.get(), kFirstField},
                                      {second.all->segments[0].segment.get(), kFirstField}};
  const ListsOfSearch search(kBytesMax);
  uint32_t words = 0;
  const auto find_all = [&] {
    for (; words < ManyFrequentWords::kWords; ++words) {
      for (const NarrowedSegment& segment : segments) segment.FindTerm(ManyFrequentWords::WordOf(words));
    }
  };
  CHECK_THROWS(kLimit, find_all());
  // In one segment, there would be room for more.
  const ListsOfSearch other(kBytesMax);
  for (uint32_t word = 0; word <= words; ++word) segments[0].FindTerm(ManyFrequentWords::WordOf(word));
}

}  // namespace
}  // namespace gannet::test
