// Compares facets, filters and hits sorted by columns with a simple model, for values of every stored width. Columns have many
// equal values or none, and the lists have several segments and windows.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "../kernel/filter/kept_comparison.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

enum WideColumn : uint16_t { kFew, kByte, kShort, kInteger, kReal, kName, kCode, kSizes, kLabels, kWideColumns };

const SegmentSchema kWideSchema{{1},
                                {{"few", ColumnType::kNumber, false},
                                 {"byte", ColumnType::kNumber, false},
                                 {"short", ColumnType::kDate, false},
                                 {"integer", ColumnType::kNumber, false},
                                 {"real", ColumnType::kNumber, false},
                                 {"name", ColumnType::kString, false},
                                 {"code", ColumnType::kString, false},
                                 {"sizes", ColumnType::kNumber, true},
                                 {"labels", ColumnType::kString, true}}};
const char* const kOrderWords[] = {"sea", "wind", "moss", "cliff"};

// A number or string. Strings have the number 0, so that both compare as pairs.
using Value = std::pair<double, std::string>;

class WideList {
 public:
  WideList(uint32_t seed, const std::vector<uint32_t>& sizes) : random_(seed) {
    std::vector<SegmentView> views;
    std::vector<SegmentDeletions> deletions;
    for (const uint32_t size : sizes) {
      std::vector<DocumentWriter> documents;
      std::vector<uint32_t> deleted;
      for (uint32_t i = 0; i < size; ++i) {
        documents.push_back(MakeDocument());
        if (Below(10) == 0) deleted.push_back(i);
      }
      views.push_back({folder_.Build(kWideSchema, documents), {}});
      deletions.push_back({views.back().segment, deleted});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, deletions, "");
  }

  const Generation& generation() const { return *generation_; }
  uint32_t Below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }
  // Values by record number and column.
  std::map<uint32_t, std::map<uint16_t, std::set<Value>>> values;

 private:
  DocumentWriter MakeDocument() {
    const uint32_t number = next_++;
    DocumentWriter writer(number);
    std::string text;
    for (uint32_t i = Below(6); i > 0; --i) text += std::string(kOrderWords[std::min(Below(4), Below(4))]) + " ";
    writer.Text(0, text);
    const auto add_number = [&](uint16_t column, double value) {
      writer.Number(column, value);
      values[number][column].insert({value, ""});
    };
    const auto add_text = [&](uint16_t column, const std::string& value) {
      writer.String(column, value);
      values[number][column].insert({0, value});
    };
    values[number];
    if (Below(8) > 0) add_number(kFew, Below(3));
    add_number(kByte, -10.0 + Below(200));
    if (Below(8) > 0) add_number(kShort, 86'400'000.0 * Below(20'000));
    if (Below(8) > 0) add_number(kInteger, Below(1 << 30));
    if (Below(8) > 0) add_number(kReal, Below(1 << 30) / 7.0 - 1e6);
    if (Below(8) > 0) add_text(kName, "name" + std::to_string(Below(5)));
    if (Below(8) > 0) add_text(kCode, "code" + std::to_string(Below(1 << 20)));
    for (uint32_t i = Below(4); i > 0; --i) add_number(kSizes, Below(300));
    for (uint32_t i = Below(4); i > 0; --i) add_text(kLabels, "label" + std::to_string(Below(40)));
    return writer;
  }

  std::mt19937 random_;
  TemporaryFolder folder_;
  std::shared_ptr<const Generation> generation_;
  uint32_t next_ = 1;
};

QueryPlan RandomWords(WideList* list) {
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 1 << 20;
  const uint32_t groups = list->Below(4);
  for (uint16_t i = 0; i < groups; ++i) {
    plan.groups.push_back(Word(kOrderWords[list->Below(4)], list->Below(4) == 0 ? Occur::kMust : Occur::kShould));
    plan.sequence.push_back(i);
  }
  if (list->Below(2) == 0) plan.proximity_weight = 0.2f;
  return plan;
}

// Returns < 0 if record `a` comes first. The best of several values counts; a record without a value comes last.
int CompareByKey(const WideList& list, const SortKey& key, uint32_t a, uint32_t b) {
  const auto best_of = [&](uint32_t record) -> std::optional<Value> {
    const auto& all = list.values.at(record);
    const auto found = all.find(key.column);
    if (found == all.end() || found->second.empty()) return std::nullopt;
    return key.descending ? *found->second.rbegin() : *found->second.begin();
  };
  const auto first = best_of(a);
  const auto second = best_of(b);
  if (!first || !second) return first ? -1 : second ? 1 : 0;
  const int order = *first < *second ? -1 : *second < *first ? 1 : 0;
  return key.descending ? -order : order;
}

void CheckOrder(WideList* list, const QueryPlan& words) {
  std::vector<ResultHit> expected = RunSearch(list->generation(), words).hits;
  QueryPlan plan = words;
  for (uint32_t keys = 1 + list->Below(2); keys > 0; --keys) {
    plan.sort_keys.push_back({SortBy::kColumn, list->Below(2) == 0, static_cast<uint16_t>(list->Below(kWideColumns)), {}});
  }
  std::ranges::sort(expected, [&](const ResultHit& a, const ResultHit& b) {
    for (const SortKey& key : plan.sort_keys) {
      if (const int order = CompareByKey(*list, key, a.record_number, b.record_number); order != 0) return order < 0;
    }
    return std::pair(-a.score, a.record_number) < std::pair(-b.score, b.record_number);
  });
  for (const uint32_t size : {1u, 10u, 150u, 5000u}) {
    plan.skip = list->Below(3) == 0 ? list->Below(200) : 0;
    plan.size = size;
    const Result result = RunSearch(list->generation(), plan);
    CHECK_EQ(result.total_count, static_cast<double>(expected.size()));
    const size_t begin = std::min<size_t>(plan.skip, expected.size());
    const size_t end = std::min<size_t>(begin + size, expected.size());
    CHECK_EQ(result.hits.size(), end - begin);
    for (size_t i = begin; i < end && i - begin < result.hits.size(); ++i) {
      CHECK_EQ(result.hits[i - begin].record_number, expected[i].record_number);
      CHECK_EQ(result.hits[i - begin].score, expected[i].score);
    }
  }
}

TEST(hits_sorted_by_columns_equal_sorting_all_hits) {
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{9000}, {5000, 300, 40}, {30, 4200}, {3}}) {
    WideList list(static_cast<uint32_t>(sizes.size() * 100 + sizes[0]), sizes);
    for (int round = 0; round < 12; ++round) CheckOrder(&list, RandomWords(&list));
  }
}

bool Compares(FilterOp op, const Value& a, const Value& b) {
  switch (op) {
    case FilterOp::kLessOrEqual:
      return a <= b;
    case FilterOp::kGreaterOrEqual:
      return a >= b;
    default:
      return a == b;
  }
}

// Checks that a filter passes the same records when it is evaluated first and when its result is cached.
void CheckFilter(WideList* list, const FilterNode& filter, const std::function<bool(const std::set<Value>&)>& passes) {
  QueryPlan plan;
  plan.size = 1 << 20;
  plan.flags = kNeedTotal | kStorageOrder;
  std::set<uint32_t> all;
  for (const ResultHit& hit : RunSearch(list->generation(), plan).hits) all.insert(hit.record_number);
  plan.filter = filter;
  for (int round = 0; round < 4; ++round) {
    std::set<uint32_t> found;
    for (const ResultHit& hit : RunSearch(list->generation(), plan).hits) found.insert(hit.record_number);
    std::set<uint32_t> expected;
    for (const uint32_t number : all) {
      const auto& values = list->values.at(number);
      const auto value = values.find(filter.column);
      if (passes(value == values.end() ? std::set<Value>() : value->second)) expected.insert(number);
    }
    CHECK(found == expected);
  }
}

bool IsKept(const Generation& generation, uint32_t segment, const FilterNode& filter) {
  return KeptComparison(*generation.segments[segment].segment, ComparisonKey(filter)).bits() != nullptr;
}

TEST(filters_pass_the_same_records_when_they_are_cached) {
  WideList list(77, {9000, 300});
  for (uint16_t column = 0; column < kWideColumns; ++column) {
    const bool is_text = column == kName || column == kCode || column == kLabels;
    for (const FilterOp op : {FilterOp::kLessOrEqual, FilterOp::kGreaterOrEqual, FilterOp::kEqual}) {
      // Chooses a value that some record has.
      std::optional<Value> value;
      while (!value) {
        const auto& values = list.values.at(1 + list.Below(9000));
        if (const auto found = values.find(column); found != values.end()) value = *found->second.begin();
      }
      FilterNode filter;
      filter.op = op;
      filter.column = column;
      filter.values = {{!is_text, value->first, value->second}};
      CheckFilter(&list, filter, [&](const std::set<Value>& values) {
        return std::ranges::any_of(values, [&](const Value& each) { return Compares(op, each, *value); });
      });
      // The result is cached for the large segment only, and not for other comparisons of the column.
      CHECK(IsKept(list.generation(), 0, filter));
      CHECK(!IsKept(list.generation(), 1, filter));
      filter.op = FilterOp::kGreater;
      CHECK(!IsKept(list.generation(), 0, filter));
    }
    FilterNode none;
    none.op = FilterOp::kIsNull;
    none.column = column;
    CheckFilter(&list, none, [](const std::set<Value>& values) { return values.empty(); });
    CHECK(IsKept(list.generation(), 0, none));
  }
}

// Returns the counts by value from the JSON of a facet.
std::map<std::string, uint64_t> CountsOf(const std::string& facets) {
  std::map<std::string, uint64_t> counts;
  for (size_t at = 0; (at = facets.find("{\"value\":", at)) != std::string::npos; ++at) {
    const size_t value = at + std::strlen("{\"value\":");
    const size_t count = facets.find(",\"count\":", value);
    counts[facets.substr(value, count - value)] = std::stoull(facets.substr(count + std::strlen(",\"count\":")));
  }
  return counts;
}

std::string FacetValue(uint16_t column, const Value& value) {
  const bool is_text = column == kName || column == kCode || column == kLabels;
  return is_text ? "\"" + value.second + "\"" : std::to_string(value.first);
}

// Converts a value of the JSON to the form of FacetValue: shortest numbers and ISO dates become numbers.
std::string FacetText(uint16_t column, const std::string& text) {
  if (column == kName || column == kCode || column == kLabels) return text;
  if (column != kShort) return std::to_string(std::stod(text));
  struct tm parts = {};
  strptime(text.c_str() + 1, "%Y-%m-%dT%H:%M:%S", &parts);
  return std::to_string(static_cast<double>(timegm(&parts)) * 1000);
}

void CheckFacets(WideList* list, const QueryPlan& words) {
  const std::vector<ResultHit> hits = RunSearch(list->generation(), words).hits;
  QueryPlan plan = words;
  plan.size = list->Below(2) * 10;
  for (uint16_t column = 0; column < kWideColumns; ++column) plan.facets.push_back({column, 1 << 20});
  const Result all = RunSearch(list->generation(), plan);
  for (uint16_t column = 0; column < kWideColumns; ++column) {
    std::map<std::string, uint64_t> expected;
    for (const ResultHit& hit : hits) {
      const auto& values = list->values.at(hit.record_number);
      const auto found = values.find(column);
      if (found == values.end()) continue;
      for (const Value& value : found->second) ++expected[FacetValue(column, value)];
    }
    plan.facets = {{column, 1 << 20}};
    std::map<std::string, uint64_t> counts;
    for (const auto& [text, count] : CountsOf(RunSearch(list->generation(), plan).facets)) counts[FacetText(column, text)] = count;
    CHECK(counts == expected);
    // A smaller facet has the most frequent values.
    plan.facets = {{column, 3}};
    std::vector<uint64_t> most;
    for (const auto& [value, count] : expected) most.push_back(count);
    std::ranges::sort(most, std::greater<>());
    most.resize(std::min<size_t>(most.size(), 3));
    std::vector<uint64_t> told;
    for (const auto& [text, count] : CountsOf(RunSearch(list->generation(), plan).facets)) told.push_back(count);
    std::ranges::sort(told, std::greater<>());
    CHECK(told == most);
  }
  // Several facets at once equal each facet alone.
  std::string joined = "{";
  for (uint16_t column = 0; column < kWideColumns; ++column) {
    plan.facets = {{column, 1 << 20}};
    const std::string one = RunSearch(list->generation(), plan).facets;
    joined += (column == 0 ? "" : ",") + one.substr(1, one.size() - 2);
  }
  CHECK_EQ(all.facets, joined + "}");
}

TEST(facets_count_values_of_every_width) {
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{5000}, {2000, 300, 40}, {30, 1200}}) {
    WideList list(static_cast<uint32_t>(sizes.size() * 10 + sizes[0]), sizes);
    for (int round = 0; round < 2; ++round) CheckFacets(&list, RandomWords(&list));
  }
}

// Uses ordinals of four bytes, and a table of counts that is not scanned as a whole.
TEST(facets_count_more_values_than_two_bytes_hold) {
  TemporaryFolder folder;
  constexpr uint32_t kCount = 70'000;
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < kCount; ++i) {
    documents.push_back(DocumentWriter(i).Text(0, i % 1000 == 7 ? "moss" : "sea").String(0, "code" + std::to_string(i / 2 * 2)));
    documents.back().String(0, "code" + std::to_string(i));
  }
  const auto segment = folder.Build({{1}, {{"code", ColumnType::kString, true}}}, documents);
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  QueryPlan plan;
  plan.groups = {Word("moss")};
  plan.facets = {{0, 1 << 20}};
  for (int round = 0; round < 2; ++round) {
    const auto counts = CountsOf(RunSearch(*generation, plan).facets);
    CHECK_EQ(counts.size(), size_t{2} * kCount / 1000);
    CHECK(std::ranges::all_of(counts, [](const auto& each) { return each.second == 1; }));
    CHECK(counts.contains("\"code1006\""));
    CHECK(counts.contains("\"code1007\""));
  }
}

}  // namespace
}  // namespace gannet::test
