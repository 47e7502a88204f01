// Tests prepared filters of vectors that many threads prepare, use and evict at once. Run under ThreadSanitizer (`make tsan`).
#include "../kernel/generation/prepared_filters.h"

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_writer.h"
#include "../test/check.h"

namespace gannet::thread_test {
namespace {

using namespace gannet::vectors;

constexpr uint32_t kVectors = 3000;
constexpr uint32_t kDimensions = 8;
constexpr int kThreads = 4;
constexpr int kRounds = 400;
// More names than a generation keeps, so that some are evicted.
constexpr uint32_t kNames = PreparedFilters::kNamesMax + 16;

std::vector<float> Values() {
  std::vector<float> values(size_t{kVectors} * kDimensions);
  uint32_t state = 1;
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(state = state * 1664525 + 1013904223) >> 16);
  return values;
}

// Returns the filter `number`, which every (number + 1)th vector passes.
std::vector<uint64_t> BitsOf(uint32_t number) {
  std::vector<uint64_t> bits((kVectors + 63) / 64);
  for (uint32_t ordinal = 0; ordinal < kVectors; ordinal += number + 1) bits[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  return bits;
}

}  // namespace

TEST(threads_share_prepared_filters) {
  const std::vector<float> values = Values();
  std::vector<uint32_t> records(kVectors);
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(kVectors);
  const std::vector<uint8_t> bytes =
      EncodeVectors({kDimensions, values, records, passages}, {.links = 4, .build_width = 20, .nodes_min = 0});
  const VectorGraph graph(bytes);
  std::vector<float> query(values.begin(), values.begin() + kDimensions);
  CHECK(Normalize(query));
  PreparedFilters filters;
  std::atomic<uint32_t> prepared = 0;
  std::atomic<uint32_t> packed = 0;
  std::atomic<uint32_t> used = 0;
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      VectorSearcher searcher;
      for (int round = 0; round < kRounds; ++round) {
        // Three rounds in four use one of a few filters, the others one of all.
        const auto number = static_cast<uint32_t>(round % 4 != 0 ? round % 5 : (round * 7 + thread) % kNames);
        const auto found = filters.Find(std::to_string(number), graph, [&](uint64_t packed_bytes_max) {
          ++(packed_bytes_max > 0 ? packed : prepared);
          return std::make_shared<const PassingVectors>(graph, BitsOf(number), packed_bytes_max);
        });
        if (found == nullptr) continue;
        ++used;
        wrong += found->count() != (kVectors + number) / (number + 1);
        for (const Neighbour& neighbour : searcher.Search(graph, {.vector = query, .passing = found.get()})) {
          wrong += neighbour.ordinal % (number + 1) != 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(), 0u);
  CHECK(used.load() > 0);
  CHECK(prepared.load() > 0);
  CHECK(packed.load() > 0);
}

}  // namespace gannet::thread_test
