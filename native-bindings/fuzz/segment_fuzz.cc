// The bytes of a whole segment file: opening and reading all of it is an Error or data, never a crash.
//
// A seed corpus: any small segments (build-test/fuzz-segment CORPUS/ -max_len=262144). Most inputs die at the meta
// pages; the interesting ones come from mutated real files.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "../test/segment_traversal.inc"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A file in memory: LMDB opens by path, and /proc gives one.
  const int file = memfd_create("segment", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    gannet::segment_test::OpenAndTraverse("/proc/self/fd/" + std::to_string(file));
  }
  close(file);
  return 0;
}
