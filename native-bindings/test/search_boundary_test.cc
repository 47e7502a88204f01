// Tests cases of the search that random lists rarely have.
#include <cmath>
#include <utility>

#include "../kernel/common/json_writer.h"
#include "../kernel/filter/geo.h"
#include "../kernel/query/prepared_query.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kSchema{{1}, {{"place", ColumnType::kLocation, false}, {"brand", ColumnType::kString, false}}};

std::vector<uint32_t> RecordNumbers(const Result& result) {
  std::vector<uint32_t> numbers;
  for (const ResultHit& hit : result.hits) numbers.push_back(hit.record_number);
  return numbers;
}

QueryPlan WordPlan(std::vector<PlanGroup> groups) {
  QueryPlan plan;
  plan.size = 100'000;
  plan.groups = std::move(groups);
  return plan;
}

std::string NumberText(double number) {
  std::string text;
  AppendJsonNumber(number, &text);
  return text;
}

std::string DateJson(double milliseconds) {
  std::string text;
  AppendJsonDate(milliseconds, &text);
  return text;
}

}  // namespace

// Words occur in every document, or only in documents at the borders of blocks and windows, and the last.
TEST(search_finds_documents_at_block_and_window_boundaries) {
  for (const uint32_t count : {1u, 127u, 128u, 129u, 4095u, 4096u, 4097u, 8192u, 8193u}) {
    TemporaryFolder folder;
    std::vector<DocumentWriter> documents;
    std::vector<uint32_t> edges;
    for (uint32_t i = 0; i < count; ++i) {
      const bool is_edge = i % 128 == 0 || i % 128 == 127 || i + 1 == count;
      documents.push_back(DocumentWriter(i).Text(0, is_edge ? "all edge" : "all"));
      if (is_edge) edges.push_back(i);
    }
    const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
    CHECK_EQ(RunSearch(*generation, WordPlan({Word("all")})).total_count, double{1.0 * count});
    CHECK(RecordNumbers(RunSearch(*generation, WordPlan({Word("edge")}))) == edges);
    CHECK(RecordNumbers(RunSearch(*generation, WordPlan({Word("all", Occur::kMust), Word("edge", Occur::kMust)}))) ==
          edges);
    CHECK(RecordNumbers(RunSearch(*generation, WordPlan({Group(Occur::kMust, {{1, {"all", "edge"}}})}))) == edges);
    const Result others = RunSearch(*generation, WordPlan({Word("all"), Word("edge", Occur::kMustNot)}));
    CHECK_EQ(others.total_count, static_cast<double>(count - edges.size()));
  }
}

// A block of one alternative is skipped by how far its bound is below the best of its list. The bounds of the other alternatives may
// add up to more than the whole group can score, and must not count twice.
TEST(search_skips_no_block_that_a_group_of_alternatives_needs) {
  constexpr uint32_t kLater = 2 * 4096 + 200;
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < 3 * 4096; ++i) {
    const char* text = "sea moss moss moss moss moss moss moss";
    if (i < 2) text = "wind wind wind moss moss moss moss moss";  // best of the first window
    if (i == 2 * 4096) text = "sea sea sea sea sea moss moss moss";
    if (i == kLater) text = "wind wind wind sea moss moss moss moss";  // better, though "sea" is weak in its block
    documents.push_back(DocumentWriter(i).Text(0, text));
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  QueryPlan plan = WordPlan({Group(Occur::kShould, {{1, {"wind"}}, {1, {"sea"}}})});
  plan.size = 2;
  CHECK((RecordNumbers(RunSearch(*generation, plan)) == std::vector<uint32_t>{2 * 4096, kLater}));
}

TEST(search_scores_the_perfect_match_of_one_word_one) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  documents.push_back(DocumentWriter(1).Text(0, "sea"));
  documents.push_back(DocumentWriter(2).Text(0, "the sea and the wind"));
  documents.push_back(DocumentWriter(3).Text(0, "red shoe"));
  documents.push_back(DocumentWriter(4).Text(0, "red shoe that is not blue"));
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  const Result sea = RunSearch(*generation, WordPlan({Word("sea")}));
  CHECK_EQ(sea.hits.size(), size_t{2});
  CHECK(sea.hits[0].score > 0.99999f && sea.hits[0].score <= 1);
  CHECK(sea.hits[1].score < 0.9f);
  // A document of just the two words is the best possible.
  const Result shoe = RunSearch(*generation, WordPlan({Word("red"), Word("shoe")}));
  CHECK_EQ(shoe.hits[0].record_number, 3u);
  CHECK(shoe.hits[0].score > 0.999f);
  const Result all = RunSearch(*generation, WordPlan({}));
  CHECK_EQ(all.hits.size(), size_t{4});
  CHECK_EQ(all.hits[3].score, 1.0f);
}

// A word with signs is at the position of the word without them, so the two do not share the length of a document. A bound that
// says so is too low: what scores more is told as 1 as well, and may be passed over.
TEST(search_bounds_words_at_one_position_by_what_they_score_together) {
  TemporaryFolder folder;
  for (const std::string text : {"C#", "C# C#", "C# C# C# C#"}) {
    const std::vector<DocumentWriter> documents = {DocumentWriter(1).Text(0, text), DocumentWriter(2).Text(0, "sea")};
    const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
    const auto maximum = [&](std::vector<PlanGroup> groups) {
      return PrepareQuery(*generation, WordPlan(std::move(groups))).maximum;
    };
    CHECK(maximum({Word("c"), Word("c#")}) > 0.999 * (maximum({Word("c")}) + maximum({Word("c#")})));

    QueryPlan plan = WordPlan({Word("c"), Word("c#")});
    plan.sequence = {0, 1};
    plan.proximity_weight = 1;
    const PreparedQuery query = PrepareQuery(*generation, plan);
    // In each document, one of each word is next to one of the other in both directions for each further one.
    const double nearness = text == "C#" ? 0 : text == "C# C#" ? 2 : 2 * (3 + 2 / 2.0 + 1 / 3.0);
    const double saturation = query.saturation[generation->segments[0].segment->norms()[0]];
    CHECK(query.pairs[0].bound > 0.999 * query.pairs[0].value * nearness / (nearness + saturation));
    const Result result = RunSearch(*generation, plan);
    CHECK(result.hits.size() == 1 && result.hits[0].score > 0.5f && result.hits[0].score <= 1);
  }
}

// Cached results of one word's terms must not be used for other terms, whatever bytes these have.
TEST(search_distinguishes_terms_with_null_bytes) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  documents.push_back(DocumentWriter(1).Text(0, "a"));
  documents.push_back(DocumentWriter(2).Text(0, "a b"));
  documents.push_back(DocumentWriter(3).Text(0, "b c"));
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  using namespace std::string_view_literals;
  const auto count = [&](std::vector<PlanAlternative> alternatives) {
    return RunSearch(*generation, WordPlan({Group(Occur::kShould, std::move(alternatives))})).total_count;
  };
  for (int turn = 0; turn < 2; ++turn) {
    CHECK_EQ(count({{1, {"a\0b"sv}}}), 0.0);
    CHECK_EQ(count({{1, {"a"}}, {1, {"b"}}}), 3.0);
    CHECK_EQ(count({{1, {"b\0c"sv}}, {1, {"a"}}}), 2.0);
    CHECK_EQ(count({{1, {"b"}}, {1, {"c\0a"sv}}}), 2.0);
  }
}

TEST(search_scores_do_not_depend_on_the_segment) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> first(1, DocumentWriter(9).Text(0, "red shoe and more words"));
  std::vector<DocumentWriter> second;
  for (uint32_t i = 0; i < 5000; ++i)
    second.push_back(DocumentWriter(100 + i).Text(0, i % 3 == 0 ? "red shoes" : "shoe"));
  second.push_back(DocumentWriter(10).Text(0, "red shoe and more words"));
  const auto generation =
      DeriveGeneration(nullptr, {{folder.Build(kSchema, second), {}}, {folder.Build(kSchema, first), {}}}, {}, {}, "");
  const Result result = RunSearch(*generation, WordPlan({Group(Occur::kShould, {{1, {"red"}}, {0.7f, {"and"}}}),
                                                         Group(Occur::kMust, {{1, {"shoe"}}, {0.3f, {"shoes"}}})}));
  float scores[2] = {0, 1};
  for (const ResultHit& hit : result.hits) {
    if (hit.record_number == 9 || hit.record_number == 10) scores[hit.record_number - 9] = hit.score;
  }
  CHECK_EQ(scores[0], scores[1]);
}

// Intersections probe for few candidates and scan lists for many; unions do neither. All compute the same scores.
TEST(search_scores_do_not_depend_on_the_evaluator) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < 9000; ++i) {
    std::string text = i % 5 == 0 ? "all all" : i % 2 == 0 ? "all more" : "all";
    if (i % 1500 == 7) text += " rare";
    if (i % 40 == 7) text += " some many";
    documents.push_back(DocumentWriter(i).Text(0, text));
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  const std::vector<PlanAlternative> expanded = {{1, {"all"}}, {0.7f, {"more"}}, {0.3f, {"some", "many"}}};
  for (const std::string_view word : {"rare", "some"}) {
    QueryPlan plan = WordPlan({Word(word), Word("all"), Group(Occur::kShould, expanded, 1.5f)});
    std::vector<float> scores(documents.size());
    for (const ResultHit& hit : RunSearch(*generation, plan).hits) scores[hit.record_number] = hit.score;
    for (const auto& [second, third] : {std::pair(Occur::kMust, Occur::kMust), std::pair(Occur::kShould, Occur::kMust),
                                        std::pair(Occur::kShould, Occur::kShould)}) {
      plan.groups[0].occur = Occur::kMust;
      plan.groups[1].occur = second;
      plan.groups[2].occur = third;
      const Result result = RunSearch(*generation, plan);
      CHECK_EQ(result.hits.size(), word == "rare" ? size_t{6} : size_t{225});
      for (const ResultHit& hit : result.hits) CHECK_EQ(hit.score, scores[hit.record_number]);
    }
  }
}

// Rare alternatives are pooled only in unions, and only in some segments.
TEST(search_scores_rare_alternatives_the_same_pooled_or_not) {
  TemporaryFolder folder;
  const auto text_of = [](uint32_t i) {
    std::string text = i % 3 == 0 ? "all often" : "all";
    for (uint32_t rare = 0; rare < 5; ++rare) {
      if (i % (500 + rare) < 2) text += " rare" + std::to_string(rare);
    }
    return text;
  };
  const auto documents = [&](uint32_t first, uint32_t count) {
    std::vector<DocumentWriter> written;
    for (uint32_t i = first; i < first + count; ++i) written.push_back(DocumentWriter(i).Text(0, text_of(i)));
    return written;
  };
  const auto many = documents(0, 9000);    // three windows, with pooled and other words
  const auto few = documents(9000, 1000);  // one window, in which no word counts as rare
  const auto generation =
      DeriveGeneration(nullptr, {{folder.Build(kSchema, many), {}}, {folder.Build(kSchema, few), {}}}, {}, {}, "");
  const std::vector<PlanAlternative> expanded = {
      {1, {"rare0"}}, {0.8f, {"often"}}, {0.7f, {"rare1"}}, {0.3f, {"rare2"}}, {0.2f, {"rare3"}}, {0.1f, {"rare4"}}};
  QueryPlan plan = WordPlan({Word("all"), Group(Occur::kShould, expanded)});
  const Result unions = RunSearch(*generation, plan);
  CHECK_EQ(unions.hits.size(), size_t{10'000});
  plan.groups[0].occur = Occur::kMust;
  const Result conjunctions = RunSearch(*generation, plan);
  CHECK(RecordNumbers(unions) == RecordNumbers(conjunctions));
  for (size_t i = 0; i < unions.hits.size(); ++i) CHECK_EQ(unions.hits[i].score, conjunctions.hits[i].score);

  QueryPlan alone = WordPlan({Group(Occur::kShould, expanded)});
  alone.flags = kNeedTotal;
  uint32_t matches = 0;
  for (uint32_t i = 0; i < 10'000; ++i) matches += text_of(i) != "all";
  const Result whole = RunSearch(*generation, alone);
  CHECK_EQ(whole.total_count, double{1.0 * matches});
  alone.size = 10;
  const Result best = RunSearch(*generation, alone);
  CHECK_EQ(best.total_count, double{1.0 * matches});
  for (size_t i = 0; i < best.hits.size(); ++i) CHECK_EQ(best.hits[i].record_number, whole.hits[i].record_number);
}

TEST(search_of_an_empty_generation_finds_nothing) {
  const auto generation = DeriveGeneration(nullptr, {}, {}, {}, "");
  QueryPlan plan = WordPlan({Word("sea")});
  plan.facets = {{0, 10}};
  plan.sort_keys = {{SortBy::kColumn, false, 3, {}}};
  const Result result = RunSearch(*generation, plan);
  CHECK_EQ(result.total_count, 0.0);
  CHECK_EQ(result.facets, "{}");
}

TEST(search_refuses_unknown_columns_and_columns_of_wrong_types) {
  TemporaryFolder folder;
  const auto segment = folder.Build(kSchema, {DocumentWriter(1).Text(0, "sea")});
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  const auto refuses = [&](auto&& change) {
    QueryPlan plan = WordPlan({});
    change(plan);
    CHECK_THROWS(kInvalidArgument, RunSearch(*generation, plan));
  };
  refuses([](QueryPlan& plan) { plan.facets = {{9, 10}}; });
  refuses([](QueryPlan& plan) { plan.facets = {{0, 10}}; });
  refuses([](QueryPlan& plan) { plan.sort_keys = {{SortBy::kColumn, false, 0, {}}}; });
  refuses([](QueryPlan& plan) { plan.sort_keys = {{SortBy::kColumn, false, 9, {}}}; });
  refuses([](QueryPlan& plan) { plan.sort_keys = {{SortBy::kDistance, false, 1, {}}}; });
  refuses([](QueryPlan& plan) {
    plan.has_distance = true;
    plan.distance_column = 1;
  });
  for (const uint16_t column : {uint16_t{0}, uint16_t{9}}) {
    refuses([&](QueryPlan& plan) {
      plan.is_distinct = true;
      plan.distinct_column = column;
    });
  }
}

TEST(search_radius_crosses_the_antimeridian_and_the_poles) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  documents.push_back(DocumentWriter(1).Location(0, 0, 179.9));
  documents.push_back(DocumentWriter(2).Location(0, 0, -179.9));
  documents.push_back(DocumentWriter(3).Location(0, 89.9, 10));
  documents.push_back(DocumentWriter(4).Location(0, 89.9, -170));
  documents.push_back(DocumentWriter(5).Location(0, -90, 0));
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  const auto within = [&](GeoPoint centre, double metres) {
    QueryPlan plan = WordPlan({});
    plan.filter = {FilterOp::kWithin, 0, {}, {}, centre, metres};
    return RecordNumbers(RunSearch(*generation, plan));
  };
  using Numbers = std::vector<uint32_t>;
  CHECK(within({0, 180}, 20'000) == (Numbers{1, 2}));
  CHECK(within({0, -180}, 20'000) == (Numbers{1, 2}));
  CHECK(within({0, 179.9}, 10) == (Numbers{1}));
  CHECK(within({89.95, 10}, 20'000) == (Numbers{3, 4}));
  CHECK(within({90, -33}, 11'200) == (Numbers{3, 4}));
  CHECK(within({-89.99, 120}, 2'000) == (Numbers{5}));
  CHECK(within({45, 45}, 25'000'000).size() == 5);
}

TEST(search_box_has_its_borders_and_crosses_the_antimeridian) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  documents.push_back(DocumentWriter(1).Location(0, 0, 179));
  documents.push_back(DocumentWriter(2).Location(0, 0, -179));
  documents.push_back(DocumentWriter(3).Location(0, 10, 20));
  documents.push_back(DocumentWriter(4).Location(0, -90, 0));
  documents.push_back(DocumentWriter(5).Location(0, 10, -180));
  documents.push_back(DocumentWriter(6));
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  const auto inside = [&](GeoPoint south_west, GeoPoint north_east) {
    QueryPlan plan = WordPlan({});
    plan.filter = {FilterOp::kInBox, 0, {}, {}, south_west, 0, north_east};
    return RecordNumbers(RunSearch(*generation, plan));
  };
  using Numbers = std::vector<uint32_t>;
  CHECK(inside({10, 20}, {10, 20}) == (Numbers{3}));
  CHECK(inside({0, -179}, {10, 20}) == (Numbers{2, 3}));
  CHECK(inside({-1, 178}, {1, -178}) == (Numbers{1, 2}));
  CHECK(inside({-1, 178}, {1, 182}) == (Numbers{1, 2}));
  CHECK(inside({-1, -182}, {1, -178}) == (Numbers{1, 2}));
  CHECK(inside({9, 170}, {11, 180}) == (Numbers{5}));
  CHECK(inside({-90, -180}, {90, 180}) == (Numbers{1, 2, 3, 4, 5}));
  CHECK(inside({-90, -10}, {90, 350}) == (Numbers{1, 2, 3, 4, 5}));
  CHECK(inside({-90, 0}, {90, 0}) == (Numbers{4}));
}

// Points are stored in steps of 1e-7 degrees: half of them are moved out of a box whose border they are.
TEST(search_box_has_a_point_that_is_given_as_its_border) {
  TemporaryFolder folder;
  const std::vector<GeoPoint> points = {{0.12345678, 0.1 - 180}, {10.12345672, 179.99999999}, {-89.99999998, 20.00000002}};
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < points.size(); ++i) {
    documents.push_back(DocumentWriter(i + 1).Location(0, points[i].latitude, points[i].longitude));
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kSchema, documents), {}}}, {}, {}, "");
  for (uint32_t i = 0; i < points.size(); ++i) {
    for (const double turn : {-180, 0, 180}) {
      if (std::abs(points[i].longitude + 2 * turn) > 360) continue;
      const GeoPoint corner{points[i].latitude, points[i].longitude + 2 * turn};
      QueryPlan plan = WordPlan({});
      plan.filter = {FilterOp::kInBox, 0, {}, {}, corner, 0, corner};
      CHECK(RecordNumbers(RunSearch(*generation, plan)) == std::vector<uint32_t>{i + 1});
    }
  }
}

TEST(geo_distances_are_measured_on_the_sphere) {
  CHECK(std::abs(DistanceMetres({0, 0}, {0, 180}) - std::acos(-1.0) * kEarthRadiusMetres) < 1e-3);
  CHECK(std::abs(DistanceMetres({90, 0}, {-90, 77}) - std::acos(-1.0) * kEarthRadiusMetres) < 1e-3);
  CHECK(std::abs(DistanceMetres({51.5074, -0.1278}, {48.8566, 2.3522}) - 343'556) < 100);  // London, Paris
  CHECK_EQ(DistanceMetres({12, 34}, {12, 34}), 0.0);
}

TEST(json_numbers_dates_and_strings_are_written_exactly) {
  CHECK_EQ(NumberText(100000), "100000");
  CHECK_EQ(NumberText(0.1), "0.1");
  CHECK_EQ(NumberText(-2.5), "-2.5");
  CHECK_EQ(NumberText(1e300), "1e+300");
  CHECK_EQ(NumberText(NAN), "null");
  CHECK_EQ(DateJson(0), "\"1970-01-01T00:00:00.000Z\"");
  CHECK_EQ(DateJson(1714521600123), "\"2024-05-01T00:00:00.123Z\"");
  CHECK_EQ(DateJson(-1), "\"1969-12-31T23:59:59.999Z\"");
  CHECK_EQ(DateJson(951782400000), "\"2000-02-29T00:00:00.000Z\"");
  CHECK_EQ(DateJson(253402300800000), "\"+010000-01-01T00:00:00.000Z\"");
  CHECK_EQ(DateJson(-62198755200000), "\"-000001-01-01T00:00:00.000Z\"");
  CHECK_EQ(DateJson(8.64e15), "8640000000000000");
  std::string text;
  AppendJsonString(std::string_view("a\"b\\c\n\x01\0é", 10), &text);
  CHECK_EQ(text, "\"a\\\"b\\\\c\\u000a\\u0001\\u0000é\"");
}

}  // namespace gannet::test
