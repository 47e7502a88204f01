// Tests the prepared filters of vectors: when they are prepared and packed, and when they are evicted.
#include "../kernel/generation/prepared_filters.h"

#include <numeric>
#include <string>
#include <vector>

#include "../kernel/vectors/vector_writer.h"
#include "check.h"

namespace gannet::test {
namespace {

using namespace gannet::vectors;

constexpr uint32_t kVectors = 2000;
constexpr uint32_t kDimensions = 8;

std::vector<uint8_t> Encoded() {
  std::vector<float> values(size_t{kVectors} * kDimensions);
  uint32_t state = 1;
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(state = state * 1664525 + 1013904223) >> 16);
  std::vector<uint32_t> records(kVectors);
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(kVectors);
  return EncodeVectors({kDimensions, values, records, passages}, {.links = 4, .build_width = 20, .nodes_min = 0});
}

// Returns a filter that every fifth vector passes. If more pass, a search walks the graph and packs nothing.
std::vector<uint64_t> Fifths() {
  std::vector<uint64_t> bits(kVectors / 64 + 1);
  for (uint32_t ordinal = 0; ordinal < kVectors; ordinal += 5) bits[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  return bits;
}

}  // namespace

TEST(prepared_filters_are_made_for_repeated_filters_and_packed_when_it_pays) {
  const std::vector<uint8_t> bytes = Encoded();
  const VectorGraph graph(bytes);
  PreparedFilters filters;
  std::vector<uint64_t> made;
  bool is_stopped = false;
  const auto ask = [&](const std::string& name) {
    return filters.Find(name, graph, [&](uint64_t packed_bytes_max) {
      made.push_back(packed_bytes_max);
      if (is_stopped) throw Error(ErrorCode::kStopped, "stopped");
      return std::make_shared<const PassingVectors>(graph, Fifths(), packed_bytes_max);
    });
  };
  for (uint32_t asked = 1; asked < PreparedFilters::kAskedMin; ++asked) CHECK(ask("fifths") == nullptr);
  const PreparedFilters::Prepared prepared = ask("fifths");
  CHECK(!prepared->is_packed());
  const uint32_t pays_after = prepared->PackingPaysAfter(graph);
  CHECK(pays_after > 1);
  // After a search was stopped while packing, the filter is packed after as many searches again.
  for (const bool stopped : {true, false}) {
    for (uint32_t asked = 1; asked < pays_after; ++asked) CHECK(ask("fifths") == prepared);
    is_stopped = stopped;
    if (stopped) CHECK_THROWS(kStopped, ask("fifths"));
  }
  const PreparedFilters::Prepared packed = ask("fifths");
  CHECK(packed->is_packed());
  CHECK_EQ(packed->packed_count(), prepared->nodes());
  for (uint32_t asked = 0; asked < 3 * pays_after; ++asked) CHECK(ask("fifths") == packed);
  CHECK(made == std::vector<uint64_t>({0, PassingVectors::kPackedBytesMax, PassingVectors::kPackedBytesMax}));
  // An evicted filter starts over.
  for (uint32_t other = 0; other < PreparedFilters::kNamesMax; ++other) CHECK(ask(std::to_string(other)) == nullptr);
  CHECK(ask("fifths") == nullptr);
}

}  // namespace gannet::test
