// Compares words beside another source with a simple model: hits, scores, floors, filters, facets, order, pages and explanations.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "check.h"
#include "column_source.h"
#include "search_support.h"

namespace gannet::test {
namespace {

constexpr uint16_t kPopularity = 0;
constexpr uint16_t kBrand = 1;
constexpr double kMost = 1000;
const SegmentSchema kSchema{{1}, {{"popularity", ColumnType::kNumber, false}, {"brand", ColumnType::kString, false}}};
const char* const kSourceWords[] = {"sea", "wind", "moss", "cliff", "amber", "quartz"};

class ScoredList {
 public:
  ScoredList(uint32_t seed, const std::vector<uint32_t>& sizes) : random_(seed) {
    std::vector<SegmentView> views;
    std::vector<SegmentDeletions> deletions;
    for (const uint32_t size : sizes) {
      std::vector<DocumentWriter> documents;
      for (uint32_t i = 0; i < size; ++i) documents.push_back(MakeDocument(i));
      views.push_back({folder_.Build(kSchema, documents), {}});
      deletions.push_back({views.back().segment, {size / 2, size / 3}});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, deletions, "");
  }

  const Generation& generation() const { return *generation_; }
  std::map<uint32_t, double> popularity;  // by record number
  uint32_t Below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }

 private:
  DocumentWriter MakeDocument(uint32_t place) {
    const uint32_t number = next_++;
    DocumentWriter writer(number);
    std::string text;
    for (uint32_t i = Below(6); i > 0; --i) text += std::string(kSourceWords[std::min(Below(6), Below(6))]) + " ";
    writer.Text(0, text).String(kBrand, Below(3) == 0 ? "acme" : "bolt");
    // Few documents in every other window are popular, so that searches can skip windows.
    if (Below(4) > 0) {
      popularity[number] = place / kWindowSize % 2 == 0 && Below(50) == 0 ? 500 + Below(500) : Below(60);
      writer.Number(kPopularity, popularity[number]);
    }
    return writer;
  }

  std::mt19937 random_;
  TemporaryFolder folder_;
  std::shared_ptr<const Generation> generation_;
  uint32_t next_ = 1;
};

struct Case {
  QueryPlan plan;
  float words_weight = 0.5f;
  float words_floor = 0;
  float column_floor = 0;
  bool adds_matches = true;
};

using Hits = std::vector<std::pair<float, uint32_t>>;  // score and record number, best first

// Returns all expected hits, computed from searches of the words alone and the numbers of the records.
Hits ModelOf(const ScoredList& list, const Case& each) {
  QueryPlan plan = each.plan;
  plan.skip = plan.minimum_score = 0;
  plan.size = 1 << 20;
  plan.facets.clear();
  const bool has_words = std::ranges::any_of(plan.groups, [](auto& group) { return group.occur != Occur::kMustNot; });
  std::map<uint32_t, float> words;
  for (const ResultHit& hit : RunSearch(list.generation(), plan).hits) words[hit.record_number] = has_words ? hit.score : 0;
  std::erase_if(plan.groups, [](const PlanGroup& group) { return group.occur != Occur::kMustNot; });
  plan.sequence.clear();
  plan.whole.clear();
  Hits hits;
  for (const ResultHit& hit : RunSearch(list.generation(), plan).hits) {  // all records that are not excluded
    const uint32_t record = hit.record_number;
    const auto found = words.find(record);
    const float word = found == words.end() || found->second < each.words_floor ? 0 : found->second;
    const auto number = list.popularity.find(record);
    float column = number == list.popularity.end() ? 0 : static_cast<float>(number->second / kMost);
    if (column < each.column_floor) column = 0;
    if (word == 0 && (column == 0 || !each.adds_matches)) continue;
    float sum = 0;
    if (word > 0) sum += each.words_weight * word;
    if (column > 0) sum += (1 - each.words_weight) * column;
    if (sum >= each.plan.minimum_score) hits.push_back({sum, record});
  }
  std::ranges::sort(hits, [](const auto& a, const auto& b) { return std::pair(-a.first, a.second) < std::pair(-b.first, b.second); });
  return hits;
}

Result RunWithColumn(const ScoredList& list, const Case& each, ColumnSource* source) {
  const OtherSources others{{{source, 1 - each.words_weight, each.column_floor, each.adds_matches}},
                            each.words_weight,
                            each.words_floor};
  return RunSearch(list.generation(), each.plan, others);
}

Case RandomCase(ScoredList* list) {
  Case each;
  if (list->Below(2) == 0) each.plan.flags = kNeedTotal;
  each.plan.skip = list->Below(3) == 0 ? list->Below(30) : 0;
  each.plan.size = 1 + list->Below(30);
  const uint32_t groups = list->Below(4);
  for (uint32_t i = 0; i < groups; ++i) {
    const Occur occurs[] = {Occur::kShould, Occur::kShould, Occur::kShould, Occur::kMust, Occur::kMustNot};
    const Occur occur = occurs[list->Below(5)];
    each.plan.groups.push_back(Word(kSourceWords[list->Below(6)], occur));
    if (list->Below(6) == 0) each.plan.groups.back().alternatives[0].terms.push_back(kSourceWords[list->Below(6)]);
  }
  for (uint16_t i = 0; i < groups; ++i) {
    if (each.plan.groups[i].occur == Occur::kMustNot) continue;
    each.plan.sequence.push_back(i);
    each.plan.whole.push_back(i);
  }
  if (list->Below(2) == 0) each.plan.proximity_weight = 0.2f;
  if (list->Below(2) == 0) each.plan.whole_field_weight = 0.3f;
  if (list->Below(3) == 0) each.plan.filter = {FilterOp::kEqual, kBrand, {{false, 0, "acme"}}, {}, {}, 0};
  if (list->Below(3) == 0) each.plan.minimum_score = static_cast<float>(list->Below(95)) / 100;
  if (list->Below(4) == 0) each.words_floor = 0.3f;
  if (list->Below(4) == 0) each.column_floor = 0.05f;
  const float weights[] = {0.5f, 0.9f, 0.1f, 0.75f};
  each.words_weight = weights[list->Below(4)];
  each.adds_matches = list->Below(3) > 0;
  return each;
}

void CheckCase(const ScoredList& list, const Case& each) {
  const Hits expected = ModelOf(list, each);
  ColumnSource source(&list.generation(), kPopularity, kMost);
  const Result result = RunWithColumn(list, each, &source);
  if (each.plan.flags & kNeedTotal) CHECK_EQ(result.total_count, static_cast<double>(expected.size()));
  const size_t begin = std::min<size_t>(each.plan.skip, expected.size());
  const size_t count = std::min<size_t>(each.plan.size, expected.size() - begin);
  CHECK_EQ(result.hits.size(), count);
  for (size_t i = 0; i < std::min(count, result.hits.size()); ++i) {
    // Tolerates rounding: words alone clamp a sum of floats slightly above 1 to 1.
    CHECK(std::abs(result.hits[i].score - expected[begin + i].first) < 1e-6f);
    float sum = 0;
    for (size_t part = 0; part < 2; ++part) {
      const float score = result.scores[2 * i + part].score;
      if (score > 0) sum += (part == 0 ? each.words_weight : 1 - each.words_weight) * score;
    }
    CHECK(result.hits[i].score == std::min(sum, 1.0f));
    const bool is_tie = i > 0 && std::abs(expected[begin + i].first - expected[begin + i - 1].first) < 1e-6f;
    const bool ties_next =
        begin + i + 1 < expected.size() && std::abs(expected[begin + i].first - expected[begin + i + 1].first) < 1e-6f;
    if (!is_tie && !ties_next) CHECK_EQ(result.hits[i].record_number, expected[begin + i].second);
  }
}

}  // namespace

TEST(sources_are_combined_as_in_the_model) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    ScoredList list(seed, {3 * kWindowSize + 100, 400, 20});
    for (uint32_t i = 0; i < 60; ++i) CheckCase(list, RandomCase(&list));
  }
}

TEST(source_is_not_asked_for_documents_that_cannot_be_hits) {
  ScoredList list(5, {12 * kWindowSize});
  Case each{{}, 0.2f, 0, 0, true};
  each.plan.size = 5;
  each.plan.groups = {Word("quartz")};
  ColumnSource source(&list.generation(), kPopularity, kMost);
  RunWithColumn(list, each, &source);
  CHECK(source.looked_at > 0);
  CHECK(source.looked_at <= 8 * kWindowSize);  // Every other window has no popular record.
  CheckCase(list, each);
  // A source of little weight is only asked for documents that words found.
  each.words_weight = 0.98f;
  ColumnSource lesser(&list.generation(), kPopularity, kMost);
  RunWithColumn(list, each, &lesser);
  CHECK(lesser.looked_at > 0);
  CHECK(lesser.looked_at <= 3 * kWindowSize);
  CheckCase(list, each);
}

// A source is not skipped because it cannot reach the bar alone.
TEST(sources_that_reach_the_minimum_score_only_together_find_hits) {
  ScoredList list(9, {2 * kWindowSize});
  QueryPlan plan;
  plan.size = 1 << 20;
  plan.minimum_score = 0.8f;
  ColumnSource one(&list.generation(), kPopularity, kMost);
  ColumnSource other(&list.generation(), kPopularity, kMost);
  const Result result = RunSearch(list.generation(), plan, {{{&one, 0.5f, 0, true}, {&other, 0.45f, 0, true}}, 0.05f, 0});
  const auto reaches = [](const auto& entry) { return entry.second / kMost * 0.95 >= 0.8; };
  CHECK_EQ(static_cast<ptrdiff_t>(result.hits.size()), std::ranges::count_if(list.popularity, reaches));
  CHECK(!result.hits.empty());
}

TEST(source_is_explained_and_counted_in_facets) {
  ScoredList list(6, {kWindowSize + 50});
  Case each{{}, 0.5f, 0, 0, true};
  each.plan.flags = kNeedTotal | kExplain;
  each.plan.size = 3;
  each.plan.groups = {Word("sea")};
  each.plan.facets = {{kBrand, 5}};
  ColumnSource source(&list.generation(), kPopularity, kMost);
  const Result result = RunWithColumn(list, each, &source);
  CHECK((result.kinds == std::vector<ScoreKind>{ScoreKind::kWords, ScoreKind::kColumn}));
  CHECK(result.explain.find("\"groups\":[{\"idf\"") != std::string::npos);
  CHECK(result.explain.find("\"kind\":\"words\"") != std::string::npos);
  CHECK(result.explain.find("\"kind\":\"column\"") != std::string::npos);
  CHECK(result.explain.find("\"of\":1000") != std::string::npos);
  double counted = 0;
  for (size_t at = 0; (at = result.facets.find("\"count\":", at)) != std::string::npos; at += 8) {
    counted += std::atof(result.facets.c_str() + at + 8);
  }
  CHECK_EQ(counted, result.total_count);
  CHECK_EQ(result.total_count, static_cast<double>(ModelOf(list, each).size()));
}

// A group of lists is searched list by list. Scores are absolute, so that hits can be merged by score.
TEST(sources_score_lists_of_a_group_so_that_hits_can_be_merged) {
  ScoredList one(7, {kWindowSize + 1});
  ScoredList other(8, {700, 9});
  Case each{{}, 0.5f, 0, 0, true};
  each.plan.size = 40;
  each.plan.groups = {Word("sea"), Word("cliff")};
  Hits merged;
  Hits expected;
  for (const ScoredList* list : {&one, &other}) {
    ColumnSource source(&list->generation(), kPopularity, kMost);
    for (const ResultHit& hit : RunWithColumn(*list, each, &source).hits) merged.push_back({hit.score, hit.record_number});
    for (const auto& hit : ModelOf(*list, each)) expected.push_back(hit);
  }
  std::ranges::sort(merged, std::greater<>());
  std::ranges::sort(expected, std::greater<>());
  for (size_t i = 0; i < each.plan.size; ++i) CHECK(std::abs(merged[i].first - expected[i].first) < 1e-6f);
}

}  // namespace gannet::test
