// Fuzzes query plans: parses arbitrary bytes, and runs valid plans on a small list.
#include <cstdint>
#include <span>

#include "../kernel/common/error.h"
#include "../test/search_support.h"
#include "fuzz_target.h"

namespace {

// Plans that ask for more hits are skipped, as they are slow.
constexpr uint32_t kFuzzedHitsMax = 4096;

const gannet::Generation& List() {
  static gannet::test::TemporaryFolder folder;
  static const auto generation = [] {
    using gannet::ColumnType;
    const gannet::SegmentSchema schema{{1, 3},
                                       {{"brand", ColumnType::kString, false},
                                        {"sizes", ColumnType::kNumber, true},
                                        {"place", ColumnType::kLocation, false},
                                        {"released", ColumnType::kDate, false}}};
    std::vector<gannet::test::DocumentWriter> documents;
    for (uint32_t i = 0; i < 300; ++i) {
      gannet::test::DocumentWriter document(i);
      document.Text(0, i % 2 == 0 ? "sea new york" : "new new york gannet").Text(1, "sea");
      document.String(0, i % 3 == 0 ? "acme" : "bolt").Number(1, i % 7).Number(1, i % 5);
      if (i % 4 != 0) document.Location(2, i % 90, i % 180).Number(3, i * 1e9);
      documents.push_back(document);
    }
    const auto segment = folder.Build(schema, documents);
    return gannet::DeriveGeneration(nullptr, {{segment, {}}}, {}, {{segment, {1, 2, 299}}}, "");
  }();
  return *generation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  try {
    const gannet::QueryPlan plan = gannet::ParsePlan(bytes);
    if (plan.skip + plan.size > kFuzzedHitsMax) return 0;
    gannet::Search(List(), bytes);
    gannet::CollectRecordNumbers(List(), bytes);
  } catch (const gannet::Error& error) {
    if (error.code() != gannet::ErrorCode::kInvalidArgument) __builtin_trap();
  }
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  using namespace gannet::test;
  QueryPlan words;
  words.size = 10;
  words.groups = {Word("sea", Occur::kMust), Word("york"), Word("bolt", Occur::kMustNot),
                  Group(Occur::kShould, {{1, {"new", "york"}}, {0.5f, {"gannet"}}}, 2)};
  words.sequence = {0, 1};
  words.whole = {0};
  words.facets = {{0, 10}, {1, 5}, {3, 2}};

  QueryPlan filtered;
  filtered.size = 20;
  filtered.skip = 3;
  FilterNode brand;
  brand.op = FilterOp::kIn;
  brand.column = 0;
  brand.values = {PlanValue{}, PlanValue{}};
  brand.values[0].text = "acme";
  brand.values[1].text = "bolt";
  FilterNode near;
  near.op = FilterOp::kWithin;
  near.column = 2;
  near.centre = {10, 20};
  near.metres = 5e6;
  FilterNode inside;
  inside.op = FilterOp::kInBox;
  inside.column = 2;
  inside.centre = {-10, 170};
  inside.opposite = {50, -120};
  FilterNode records;
  records.op = FilterOp::kRecord;
  records.values = {PlanValue{true, 7, {}}, PlanValue{true, 1e300, {}}};
  FilterNode either;
  either.op = FilterOp::kOr;
  FilterNode none;
  none.op = FilterOp::kNot;
  none.children = {brand};
  either.children = {brand, near, inside, none, records};
  filtered.filter = either;
  filtered.sort_keys = {SortKey{}, SortKey{}};
  filtered.has_distance = true;
  filtered.distance_column = 2;
  filtered.distance_origin = {1, 2};

  QueryPlan everything;
  everything.size = 5;
  everything.flags = kKeepMatches;
  everything.is_distinct = true;
  return {EncodePlan(words), EncodePlan(filtered), EncodePlan(everything)};
}
