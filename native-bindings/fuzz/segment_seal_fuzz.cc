// Fuzzes the seal of segments: a sealed file passes its check if and only if its bytes are unchanged, and a file that passes can be opened
// and read to its end. A truncated file, and the input itself as a file, are refused.
//
// An input is a list of changes: u32 offset (modulo the file's size) and u8 to xor the byte there with.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../kernel/common/error.h"
#include "../kernel/segment/segment_seal.h"
#include "../test/segment_fixture.h"
#include "../test/segment_traversal.inc"
#include "fuzz_target.h"

namespace {

using gannet::fuzz::Input;

constexpr size_t kChangeBytes = sizeof(uint32_t) + 1;

Input SealedSegment() {
  using namespace gannet::segment_test;
  const TemporaryFolder folder;
  const std::string path = folder.File("sealed");
  BuildSegment(path, TestSchema(), EncodeBatch(RandomDocuments(7, 40, 300)));
  return ReadFile(path);
}

// A file in memory, with a path under /proc.
class MemoryFile {
 public:
  explicit MemoryFile(const Input& bytes) : file_(memfd_create("seal", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

bool PassesSeal(const std::string& path) {
  try {
    gannet::CheckSegmentSeal(path);
    return true;
  } catch (const gannet::Error&) {
    return false;
  }
}

void CheckChanged(const Input& sealed, const uint8_t* data, size_t size) {
  Input changed = sealed;
  for (size_t at = 0; at + kChangeBytes <= size; at += kChangeBytes) {
    uint32_t offset;
    std::memcpy(&offset, data + at, sizeof(offset));
    changed[offset % changed.size()] ^= data[at + sizeof(offset)];
  }
  const MemoryFile file(changed);
  const bool passes = PassesSeal(file.path());
  if (passes != (changed == sealed)) {
    std::fprintf(stderr, "the seal %s what was %s\n", passes ? "passes" : "refuses", passes ? "changed" : "sealed");
    std::abort();
  }
  if (passes) gannet::segment_test::OpenAndTraverse(file.path());
}

// Aborts if a truncated segment, or the input itself as a file, passes the seal.
void CheckRefused(const Input& sealed, const uint8_t* data, size_t size) {
  uint32_t length = 0;
  if (size > 0) std::memcpy(&length, data, std::min(size, sizeof(length)));
  const Input cut(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(length % sealed.size()));
  for (const Input& bytes : {cut, Input(data, data + size)}) {
    if (!PassesSeal(MemoryFile(bytes).path())) continue;
    std::fprintf(stderr, "the seal passes what was never sealed\n");
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Input sealed = SealedSegment();
  CheckChanged(sealed, data, size);
  CheckRefused(sealed, data, size);
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  // No change, one changed bit of the first page, of its seal and of a later page, and a byte changed twice to what it was.
  return {{0, 0, 0, 0, 0},
          {0, 0, 0, 0, 1},
          {0xf0, 0x0f, 0, 0, 0x80},
          {0, 0x40, 0, 0, 0xff},
          {9, 1, 0, 0, 5, 9, 1, 0, 0, 5}};
}
