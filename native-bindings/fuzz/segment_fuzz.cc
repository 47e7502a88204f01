// Fuzzes whole segment files: opening and reading all of one gives data or an Error, never a crash.
//
// Random bytes mostly fail at the meta pages; the interesting inputs are mutations of real files.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "../test/segment_fixture.h"
#include "../test/segment_traversal.inc"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // LMDB opens files by path; /proc provides one for a file in memory.
  const int file = memfd_create("segment", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    gannet::segment_test::OpenAndTraverse("/proc/self/fd/" + std::to_string(file));
  }
  close(file);
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  using namespace gannet::segment_test;
  const TemporaryFolder folder;
  std::vector<Input> seeds;
  for (const uint32_t documents : {1u, 20u, 150u}) {
    const std::string path = folder.File(std::to_string(documents));
    BuildSegment(path, TestSchema(), EncodeBatch(RandomDocuments(documents, documents, 300)));
    seeds.push_back(ReadFile(path));
  }
  return seeds;
}
