// Plans of arbitrary bytes: parsed, and run on a small list when they parse.
#include <cstdint>
#include <span>

#include "../kernel/common/error.h"
#include "../test/search_support.h"

namespace {

// Above this, a run is slow rather than wrong.
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
