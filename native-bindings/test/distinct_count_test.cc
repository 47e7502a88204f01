// Tests counts of distinct values over segments and lists, for every form that values have on disk.
#include "../kernel/collect/distinct_count.h"

#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../kernel/common/stop.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

enum CountedColumns : uint16_t { kCountedFraction, kCountedFar, kCountedDense, kCountedDay, kCountedName, kCountedSizes, kCountedColumnCount };
const SegmentSchema kCountedSchema{{1},
                            {{"fraction", ColumnType::kNumber, false},
                             {"far", ColumnType::kNumber, false},
                             {"dense", ColumnType::kNumber, false},
                             {"day", ColumnType::kDate, false},
                             {"name", ColumnType::kString, false},
                             {"sizes", ColumnType::kNumber, true}}};

using CountedValues = std::map<uint16_t, std::set<std::string>>;  // values as texts, by column

// Records with random values, in several segments.
class RandomRecords {
 public:
  RandomRecords(uint32_t seed, const std::vector<uint32_t>& sizes) : random_(seed) {
    for (uint32_t i = 0; i < 300; ++i) fractions_.push_back(std::uniform_real_distribution<double>(-1e9, 1e9)(random_));
    std::vector<SegmentView> views;
    uint32_t record = 0;
    for (const uint32_t size : sizes) {
      std::vector<DocumentWriter> documents;
      for (uint32_t i = 0; i < size; ++i) documents.push_back(MakeRecord(record++));
      views.push_back({folder_.Build(kCountedSchema, documents), {}});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, {}, "");
  }

  const Generation& generation() const { return *generation_; }
  const std::vector<CountedValues>& records() const { return records_; }

  DistinctList Counted(std::optional<uint16_t> distinct, const std::vector<uint16_t>& facets) const {
    QueryPlan plan;
    plan.flags = kKeepMatches;
    DistinctList list{generation_.get(), KeptMatches(*generation_, RunSearch(*generation_, plan).matches)};
    if (distinct) list.distinct = CountedColumn{*distinct, *distinct};
    for (uint32_t kind = 0; kind < facets.size(); ++kind) list.facets.push_back({facets[kind], kind});
    return list;
  }

 private:
  uint32_t Below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }

  DocumentWriter MakeRecord(uint32_t record) {
    DocumentWriter writer(record);
    CountedValues& values = records_.emplace_back();
    const auto add = [&](uint16_t column, double number) {
      writer.Number(column, number);
      values[column].insert(std::to_string(number));
    };
    if (Below(6) != 0) add(kCountedFraction, fractions_[Below(300)]);
    if (Below(6) != 0) add(kCountedFar, Below(300) * 13'000'000.0);
    if (Below(6) != 0) add(kCountedDense, Below(70'000));
    if (Below(6) != 0) add(kCountedDay, Below(400) * 86'400'000.0);
    for (uint32_t count = Below(4); count > 0; --count) add(kCountedSizes, Below(5));
    if (Below(6) != 0) {
      const std::string name = "n" + std::to_string(Below(3000));
      writer.String(kCountedName, name);
      values[kCountedName].insert(name);
    }
    return writer;
  }

  std::mt19937 random_;
  TemporaryFolder folder_;
  std::vector<double> fractions_;
  std::vector<CountedValues> records_;
  std::shared_ptr<const Generation> generation_;
};

void CheckDistinctLists(const std::vector<const RandomRecords*>& lists, uint16_t distinct) {
  const std::vector<uint16_t> facets = {kCountedSizes, kCountedFraction, kCountedDense, kCountedName};
  std::vector<DistinctList> counted;
  std::set<std::string> hits;
  std::map<uint16_t, std::map<std::string, std::set<std::string>>> expected;
  for (const RandomRecords* list : lists) {
    counted.push_back(list->Counted(distinct, facets));
    for (const CountedValues& values : list->records()) {
      const auto value = values.find(distinct);
      const std::string hit = value == values.end() ? "alone" + std::to_string(hits.size()) : "with" + *value->second.begin();
      hits.insert(hit);
      for (const uint16_t facet : facets) {
        if (const auto found = values.find(facet); found != values.end()) for (const auto& text : found->second) expected[facet][text].insert(hit);
      }
    }
  }
  const DistinctCounts counts = CountDistinct(counted, {static_cast<uint32_t>(facets.size()), 1 << 20});
  CHECK_EQ(counts.total, hits.size());
  CHECK_EQ(CountDistinct(counted, {0, 0}).total, hits.size());
  for (size_t kind = 0; kind < facets.size(); ++kind) {
    // The number of values, and the sum of what they count: which counts what is tested beside the model.
    const std::string& json = counts.facets[kind];
    uint64_t values = 0;
    uint64_t sum = 0;
    static constexpr std::string_view kCount = "\"count\":";
    for (size_t at = json.find(kCount); at != std::string::npos; at = json.find(kCount, at + 1), ++values) sum += std::stoul(json.substr(at + kCount.size()));
    uint64_t expected_sum = 0;
    for (const auto& [text, of] : expected[facets[kind]]) expected_sum += of.size();
    CHECK_EQ(values, expected[facets[kind]].size());
    CHECK_EQ(sum, expected_sum);
  }
}

}  // namespace

TEST(distinct_values_are_counted_in_every_form_of_columns) {
  const RandomRecords one(1, {20'000});
  const RandomRecords several(2, {300, 5000, 1, 40});
  for (const uint16_t distinct : {kCountedFraction, kCountedFar, kCountedDense, kCountedDay, kCountedName}) {
    CheckDistinctLists({&one}, distinct);
    CheckDistinctLists({&several}, distinct);
    CheckDistinctLists({&several, &one, &several}, distinct);
  }
}

TEST(distinct_count_stops_and_refuses_matches_that_are_cut_or_of_another_generation) {
  const RandomRecords list(3, {3000, 10});
  const std::vector<DistinctList> counted = {list.Counted(kCountedName, {kCountedSizes})};
  WatchStop(7, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
  RaiseStop(7);
  CHECK_THROWS(kStopped, CountDistinct(counted, {1, 10}));
  LowerStop(7);
  UnwatchStop();
  QueryPlan plan;
  plan.flags = kKeepMatches;
  std::vector<uint8_t> matches = RunSearch(list.generation(), plan).matches;
  for (size_t size = 0; size < matches.size(); size += 41) {
    CHECK_THROWS(kInvalidArgument, KeptMatches(list.generation(), std::span(matches).first(size)));
  }
  const RandomRecords other(4, {100});
  CHECK_THROWS(kInvalidArgument, KeptMatches(other.generation(), matches));
  matches.back() = 0xff;  // documents behind the last one
  CHECK_THROWS(kInvalidArgument, KeptMatches(list.generation(), matches));
  const DistinctCounts nothing = CountDistinct({}, {1, 10});
  CHECK_EQ(nothing.total, uint64_t{0});
  CHECK_EQ(nothing.facets.at(0), "[]");
}

}  // namespace gannet::test
