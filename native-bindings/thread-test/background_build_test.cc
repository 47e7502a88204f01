// Tests segments that several threads build in the background at once: added documents, finished and abandoned builds.
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../kernel/segment/background_build.h"
#include "../test/check.h"
#include "../test/segment_fixture.h"

namespace gannet::thread_test {
namespace {

using segment_test::EncodeBatch;
using segment_test::RandomDocuments;
using segment_test::TemporaryFolder;
using segment_test::TestSchema;

constexpr uint32_t kBuilders = 4;
constexpr uint32_t kRounds = 6;
constexpr uint32_t kDocuments = 60;

TEST(threads_build_segments_in_the_background_at_once) {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  std::vector<uint32_t> built(kBuilders, 0);
  for (uint32_t builder = 0; builder < kBuilders; ++builder) {
    threads.emplace_back([&, builder] {
      for (uint32_t round = 0; round < kRounds; ++round) {
        BackgroundBuild build(folder.File(std::to_string(builder) + "-" + std::to_string(round)), TestSchema());
        const auto documents = RandomDocuments(builder * kRounds + round, kDocuments);
        for (const auto& document : documents) {
          const std::vector<uint8_t> batch = EncodeBatch({document});
          build.Add(std::span(batch).subspan(sizeof(uint32_t)));
        }
        // Every third build is abandoned.
        if (round % 3 == 2) continue;
        build.End();
        built[builder] += build.Finish().document_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const uint32_t count : built) CHECK_EQ(count, kDocuments * kRounds * 2 / 3);
  CHECK_EQ(folder.FileCount(), size_t{kBuilders} * kRounds * 2 / 3);
}

}  // namespace
}  // namespace gannet::thread_test
