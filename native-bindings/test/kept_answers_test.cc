// Tests that an answer that is kept with a segment is given to the same question only. A key without a part of its question gives
// one search the answer of another: wrong hits, which no search on its own shows.
#include <algorithm>
#include <functional>
#include <random>

#include "../kernel/filter/kept_comparison.h"
#include "../kernel/query/longer_words.h"
#include "../kernel/query/prepared_query.h"
#include "../kernel/sources/filter_name.h"
#include "../kernel/terms/completion_lookup.h"
#include "../kernel/terms/neighbours.h"
#include "../kernel/terms/word_expander.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

// More documents than filters keep nothing for, and more terms than a table has.
constexpr uint32_t kDocuments = 9400;
// So many that it is dear to find those that are the query.
constexpr uint32_t kShortDocuments = 1200;
// Words of which several have the same letters when they are put together: a bc and ab c.
const std::vector<std::string> kWords = {"a", "b", "c", "ab", "bc", "abc"};

enum Columns : uint16_t { kFirstNumber, kSecondNumber, kFirstText, kSecondText, kFirstPlace, kSecondPlace };
const SegmentSchema kManyColumns{{1},
                                 {{"first_number", ColumnType::kNumber, false},
                                  {"second_number", ColumnType::kNumber, false},
                                  {"first_text", ColumnType::kString, false},
                                  {"second_text", ColumnType::kString, false},
                                  {"first_place", ColumnType::kLocation, false},
                                  {"second_place", ColumnType::kLocation, false}}};

const std::string& RandomWord(std::mt19937* random) { return kWords[(*random)() % kWords.size()]; }

// A segment that can be opened anew, with nothing kept.
class LargeSegment {
 public:
  explicit LargeSegment(std::mt19937* random) {
    std::vector<DocumentWriter> documents;
    for (uint32_t number = 0; number < kDocuments; ++number) {
      DocumentWriter document(number);
      // Most have a word of their own, and the first ones are as short as queries.
      std::string text = number < kShortDocuments ? "" : "n" + std::to_string(number) + " ";
      for (uint32_t length = 1 + (*random)() % 3; length > 0; --length) text += RandomWord(random) + " ";
      document.Text(0, text);
      for (const uint16_t column : {kFirstNumber, kSecondNumber}) document.Number(column, (*random)() % 3);
      for (const uint16_t column : {kFirstText, kSecondText}) document.String(column, RandomWord(random));
      for (const uint16_t column : {kFirstPlace, kSecondPlace}) {
        document.Location(column, (*random)() % 3, (*random)() % 3);
      }
      documents.push_back(document);
    }
    kept_ = folder_.Build(kManyColumns, documents);
  }

  // Answers are kept with it.
  std::shared_ptr<const Generation> kept() const { return Of(kept_); }
  std::shared_ptr<const Generation> fresh() const { return Of(Segment::Open(folder_.path() / "segment-0.mdb")); }

 private:
  static std::shared_ptr<const Generation> Of(std::shared_ptr<const Segment> segment) {
    return DeriveGeneration(nullptr, {{std::move(segment), {}}}, {}, {}, "{}");
  }

  TemporaryFolder folder_;
  std::shared_ptr<const Segment> kept_;
};

// Returns a comparison with few different parts, so that the next ones often differ in one of them only.
FilterNode RandomComparison(std::mt19937* random) {
  const auto below = [&](uint32_t end) { return (*random)() % end; };
  FilterNode filter;
  const uint32_t kind = below(4);
  if (kind == 0) {
    filter.op = static_cast<FilterOp>(static_cast<uint8_t>(FilterOp::kEqual) + below(6));
    const bool is_number = below(2) == 0;
    filter.column = static_cast<uint16_t>((is_number ? kFirstNumber : kFirstText) + below(2));
    filter.values = {{is_number, is_number ? 1.0 + below(2) : 0, is_number ? std::string_view() : RandomWord(random)}};
  } else if (kind == 1) {
    filter.op = FilterOp::kIn;
    filter.column = static_cast<uint16_t>(kFirstText + below(2));
    for (uint32_t count = 1 + below(2); count > 0; --count) filter.values.push_back({false, 0, RandomWord(random)});
  } else {
    filter.op = kind == 2 ? FilterOp::kWithin : FilterOp::kInBox;
    filter.column = static_cast<uint16_t>(kFirstPlace + below(2));
    filter.centre = {0.5 * below(2), 0.5 * below(2)};
    if (kind == 2) filter.metres = 120'000.0 * (1 + below(2));
    else filter.opposite = {1.0 + below(2), 1.0 + below(2)};
  }
  return filter;
}

PlanGroup RandomGroup(std::mt19937* random) {
  std::vector<PlanAlternative> alternatives;
  for (uint32_t count = 1 + (*random)() % 3; count > 0; --count) {
    const float weight = (*random)() % 2 == 0 ? 0.9f : 0.6f;
    const bool is_longer = (*random)() % 2 == 0;
    alternatives.push_back({weight, {RandomWord(random)}, is_longer ? AlternativeKind::kCompound : AlternativeKind::kSynonym});
  }
  alternatives[0].kind = AlternativeKind::kWord;
  return Group(Occur::kShould, std::move(alternatives));
}

QueryPlan RandomPlan(std::mt19937* random) {
  QueryPlan plan;
  plan.size = 50;
  plan.flags = kNeedTotal;
  for (uint16_t group = 0; group < 1 + (*random)() % 2; ++group) {
    plan.groups.push_back(RandomGroup(random));
    plan.sequence.push_back(group);
  }
  plan.whole = plan.sequence;
  plan.whole_field_weight = 0.5f;
  if ((*random)() % 2 == 0) plan.filter = RandomComparison(random);
  return plan;
}

// Returns filters of which each differs from the first one in a single part that a comparison has.
std::vector<FilterNode> OtherComparisons(const FilterNode& filter) {
  std::vector<FilterNode> others;
  const auto add = [&](const std::function<void(FilterNode&)>& change) {
    others.push_back(filter);
    change(others.back());
  };
  add([](FilterNode& node) { node.op = FilterOp::kIn; });
  // In the byte of the column that few lists have, too.
  add([](FilterNode& node) { node.column += 1; });
  add([](FilterNode& node) { node.column += 256; });
  add([](FilterNode& node) { node.centre.latitude += 1; });
  add([](FilterNode& node) { node.centre.longitude += 1; });
  add([](FilterNode& node) { node.metres += 1; });
  add([](FilterNode& node) { node.opposite.latitude += 1; });
  add([](FilterNode& node) { node.opposite.longitude += 1; });
  add([](FilterNode& node) { node.values.pop_back(); });
  add([](FilterNode& node) { node.values.push_back({false, 0, ""}); });
  add([](FilterNode& node) { node.values.push_back({true, 0, ""}); });
  add([](FilterNode& node) { std::swap(node.values[0], node.values[1]); });
  add([](FilterNode& node) { node.values[1] = {true, 1, ""}; });
  add([](FilterNode& node) { node.values[1] = {true, 2, ""}; });
  add([](FilterNode& node) { node.values[1].text = "another"; });
  // The same bytes, split between other values: what stands between two texts is part of one of them.
  static const std::string kBetween(sizeof(bool) + sizeof(double), '\0');
  static const std::string kFirst = "one" + kBetween + "other";
  static const std::string kSecond = "other" + kBetween + "one";
  add([](FilterNode& node) {
    node.values[0].text = kFirst;
    node.values[1].text = "one";
  });
  add([](FilterNode& node) {
    node.values[0].text = "one";
    node.values[1].text = kSecond;
  });
  return others;
}

const FilterNode kComparison{FilterOp::kInBox, 3, {{false, 0, "one"}, {false, 0, "other"}}, {}, {1, 2}, 3, {4, 5}};

}  // namespace

TEST(kept_answers_of_comparisons_have_keys_with_every_part) {
  std::vector<FilterNode> all = OtherComparisons(kComparison);
  all.push_back(kComparison);
  std::vector<std::string> keys;
  for (const FilterNode& each : all) keys.push_back(ComparisonKey(each));
  std::ranges::sort(keys);
  CHECK(std::ranges::adjacent_find(keys) == keys.end());
  CHECK_EQ(ComparisonKey(kComparison), ComparisonKey(FilterNode(kComparison)));
}

TEST(kept_answers_of_filters_have_names_with_every_part) {
  std::vector<FilterNode> all = OtherComparisons(kComparison);
  all.push_back(kComparison);
  const size_t comparisons = all.size();
  // Each alone and under a not; in lists of one and of two; and two trees of the same comparisons.
  for (size_t i = 0; i < comparisons; ++i) all.push_back({FilterOp::kNot, 0, {}, {all[i]}, {}, 0, {}});
  for (const FilterOp op : {FilterOp::kAnd, FilterOp::kOr}) {
    all.push_back({op, 0, {}, {}, {}, 0, {}});
    all.push_back({op, 0, {}, {kComparison}, {}, 0, {}});
    all.push_back({op, 0, {}, {kComparison, kComparison}, {}, 0, {}});
    const FilterNode pair{FilterOp::kAnd, 0, {}, {kComparison, kComparison}, {}, 0, {}};
    const FilterNode one{FilterOp::kAnd, 0, {}, {kComparison}, {}, 0, {}};
    all.push_back({op, 0, {}, {pair, kComparison}, {}, 0, {}});
    all.push_back({op, 0, {}, {one, kComparison, kComparison}, {}, 0, {}});
  }
  std::vector<std::string> names;
  for (const FilterNode& each : all) names.push_back(NameOf(each));
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST(kept_answers_of_other_searches_change_no_hit) {
  std::mt19937 random(3);
  const LargeSegment segment(&random);
  const auto kept = segment.kept();
  CHECK(!kept->segments[0].segment->has_table());
  // Fields of one word before those of two, and words that have the same letters together.
  std::vector<QueryPlan> plans;
  for (const auto& [first, second] : {std::pair("ab", "c"), std::pair("a", "bc")}) {
    for (const bool is_one : {true, false}) {
      QueryPlan& plan = plans.emplace_back();
      plan.size = 50;
      plan.flags = kNeedTotal;
      if (is_one) plan.groups = {Group(Occur::kShould, {{1, {first}}, {0.9f, {second}, AlternativeKind::kSynonym}})};
      else plan.groups = {Word(first), Word(second)};
      // Beside it, the number of documents of a group decides how much it counts.
      if (is_one) plan.groups.push_back(Word("abc"));
      plan.whole = is_one ? std::vector<uint16_t>{0} : std::vector<uint16_t>{0, 1};
      plan.whole_field_weight = 0.5f;
    }
  }
  while (plans.size() < 150) plans.push_back(RandomPlan(&random));
  for (const QueryPlan& plan : plans) {
    const Result expected = RunSearch(*segment.fresh(), plan);
    // What a filter passes is kept after as many comparisons as there are documents.
    for (int time = 0; time < 3; ++time) {
      const Result found = RunSearch(*kept, plan);
      CHECK_EQ(found.total_count, expected.total_count);
      CHECK(std::ranges::equal(found.hits, expected.hits, [](const ResultHit& a, const ResultHit& b) {
        return a.record_number == b.record_number && a.score == b.score;
      }));
    }
  }
}

TEST(kept_answers_of_filters_change_no_hit) {
  std::mt19937 random(4);
  const LargeSegment segment(&random);
  const auto kept = segment.kept();
  QueryPlan plan;
  plan.size = kDocuments;
  plan.flags = kNeedTotal | kStorageOrder;
  for (int round = 0; round < 150; ++round) {
    plan.filter = RandomComparison(&random);
    const double expected = RunSearch(*segment.fresh(), plan).total_count;
    for (int time = 0; time < 3; ++time) CHECK_EQ(RunSearch(*kept, plan).total_count, expected);
  }
}

// Two boxes with one south-western corner were no different questions without the other corner in the key.
TEST(kept_answers_of_a_box_are_not_those_of_a_smaller_one) {
  std::mt19937 random(5);
  const LargeSegment segment(&random);
  const auto kept = segment.kept();
  const auto inside = [&](GeoPoint north_east) {
    QueryPlan plan;
    plan.size = kDocuments;
    plan.flags = kNeedTotal | kStorageOrder;
    plan.filter = {FilterOp::kInBox, kFirstPlace, {}, {}, {0, 0}, 0, north_east};
    return RunSearch(*kept, plan).total_count;
  };
  for (int time = 0; time < 3; ++time) CHECK_EQ(inside({2, 2}), kDocuments);
  for (const GeoPoint& north_east : {GeoPoint{1, 2}, GeoPoint{2, 1}}) {
    for (int time = 0; time < 3; ++time) CHECK(inside(north_east) < kDocuments * 3 / 4);
  }
}

TEST(kept_answers_about_words_are_those_of_the_same_words) {
  std::mt19937 random(6);
  const LargeSegment segment(&random);
  const auto kept = segment.kept();
  // Each of these stands before one word. The first question has the same letters as the second one.
  uint32_t neighbours = 0;
  for (uint32_t number = kShortDocuments; number < kShortDocuments + 20; ++number) {
    const std::string left = "n" + std::to_string(number);
    for (const std::string right : {"ab", "bc"}) {
      CHECK(!AreNeighbours(*kept, left + right[0], right.substr(1)));
      const bool expected = AreNeighbours(*segment.fresh(), left, right);
      CHECK_EQ(AreNeighbours(*kept, left, right), expected);
      neighbours += expected;
    }
  }
  CHECK(neighbours > 0 && neighbours < 20);
  const ExpansionLimits limits = {32, 128, 0, 128};
  for (const std::string word : {"abcd", "ac", "bcd"}) {
    for (const uint32_t edits : {0u, 1u, 2u, 1u, 0u}) {
      const std::vector<std::string> words = {word};
      const std::vector<uint32_t> allowed = {edits};
      const auto again = segment.fresh();
      const WordExpansion found = ExpandWords(*kept, words, allowed, limits)[0];
      const WordExpansion expected = ExpandWords(*again, words, allowed, limits)[0];
      CHECK_EQ(found.document_frequency, expected.document_frequency);
      CHECK(found.typos == expected.typos && found.compounds == expected.compounds);
    }
  }
  for (const std::string prefix : {"n", "n1", "n2", "n12", "a", "b"}) {
    CHECK(CompleteWord(*kept, prefix, 0, 9) == CompleteWord(*segment.fresh(), prefix, 0, 9));
  }
}

// How longer words count depends on fields and on longer words that another segment of the list has.
TEST(kept_answers_about_longer_words_are_those_of_the_same_scale) {
  TemporaryFolder folder;
  const auto segment = folder.Build({{6}, {}}, {DocumentWriter(0).Text(0, "서울시"), DocumentWriter(1).Text(0, "산")});
  const auto lighter = folder.Build({{2}, {}}, {DocumentWriter(2).Text(0, "산")});
  const auto other = folder.Build({{6}, {}}, {DocumentWriter(3).Text(0, "서울역")});
  QueryPlan plan;
  plan.size = 10;
  plan.groups = {Group(Occur::kShould, {{1, {"서울"}},
                                        {0.5f, {"서울시"}, AlternativeKind::kCompound},
                                        {0.9f, {"서울역"}, AlternativeKind::kCompound}})};
  const auto joined = [&](const std::vector<std::shared_ptr<const Segment>>& segments) {
    std::vector<SegmentView> views;
    for (const auto& each : segments) views.push_back({each, {}});
    const auto generation = DeriveGeneration(nullptr, views, {}, {}, "{}");
    return PrepareQuery(*generation, plan, true).joined_bytes[0]->bytes;
  };
  const auto alone = joined({segment});
  // A synonym counts as the word itself, although all terms and weights are the same.
  const auto both = folder.Build({{6}, {}}, {DocumentWriter(4).Text(0, "서울시 서울역"), DocumentWriter(5).Text(0, "서울역")});
  for (PlanAlternative& alternative : plan.groups[0].alternatives) alternative.weight = 0.5f;
  const auto as_longer = joined({both});
  plan.groups[0].alternatives[2].kind = AlternativeKind::kSynonym;
  CHECK(joined({both}) != as_longer);
  plan.groups[0].alternatives[2] = {0.9f, {"서울역"}, AlternativeKind::kCompound};
  CHECK(joined({segment, lighter}) != alone);
  CHECK(joined({segment, other}) != alone);
  CHECK(joined({segment}) == alone);
}

}  // namespace gannet::test
