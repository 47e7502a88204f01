// Tests trimming of mapped files while other threads unmap files and reuse their addresses.
#include "../kernel/common/mapped_memory.h"

#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../kernel/common/file.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

constexpr size_t kFileBytes = 1 << 20;  // Smaller files are read instead of mapped.
constexpr size_t kOtherMappings = 200;
constexpr int kRounds = 100;

// Returns the processor time of this thread, which does not go on while others have the processor: a pass that was
// measured with a wait would be waited for a hundred times.
std::chrono::nanoseconds ProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(memory_that_takes_the_place_of_a_mapping_keeps_what_is_in_it) {
  const TemporaryFolder folder;
  const std::string path = folder.File("mapped");
  WriteFile(path, std::vector<uint8_t>(kFileBytes, 1));
  // Many mappings, so that a pass over them takes some time.
  std::vector<std::unique_ptr<MappedFile>> others;
  for (size_t at = 0; at < kOtherMappings; ++at) others.push_back(std::make_unique<MappedFile>(path));

  const std::chrono::nanoseconds began = ProcessorTime();
  TrimMappings(folder.path());
  const std::chrono::nanoseconds pass = ProcessorTime() - began;
  std::minstd_rand random(1);

  std::atomic<bool> ended = false;
  std::atomic<uint64_t> trims = 0;
  std::thread trimming([&] {
    for (; !ended; ++trims) TrimMappings(folder.path());
  });
  int emptied = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto file = std::make_unique<MappedFile>(path);
    auto* const begin = const_cast<uint8_t*>(file->bytes().data());
    // Unmaps the file at a random time of a pass, between the listing of its mapping and its turn.
    for (const uint64_t before = trims; trims == before;) std::this_thread::yield();
    const auto until = ProcessorTime() + std::chrono::nanoseconds(random() % (pass.count() + 1));
    while (ProcessorTime() < until) continue;
    file.reset();
    // Maps memory at the address of the file, as an allocator would.
    void* const memory = mmap(begin, kFileBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    auto* const byte = static_cast<volatile uint8_t*>(memory);
    *byte = 7;
    // Waits until the passes that began before are done.
    for (const uint64_t before = trims; trims < before + 2;) std::this_thread::yield();
    emptied += *byte != 7;
    munmap(memory, kFileBytes);
  }
  ended = true;
  trimming.join();
  CHECK_EQ(emptied, 0);
}

}  // namespace
}  // namespace gannet::segment_test
