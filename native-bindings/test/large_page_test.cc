// Tests files of vectors in large memory pages, if the system has these for files.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../kernel/common/file.h"
#include "../kernel/common/mapped_memory.h"
#include "../kernel/vectors/vector_segment.h"
#include "../kernel/vectors/vector_writer.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::test {
namespace {

// Reads the whole file and returns the bytes of its mapping that are in large pages.
uint64_t LargeBytesOf(const std::string& path, std::span<const uint8_t> bytes) {
  volatile uint8_t read = 0;
  for (size_t at = 0; at < bytes.size(); at += 4096) read = bytes[at];
  (void)read;
  std::ifstream maps("/proc/self/smaps");
  bool is_it = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') != std::string::npos && line.find(' ') > line.find('-')) is_it = line.ends_with(path);
    if (is_it && line.starts_with("FilePmdMapped:")) return std::stoull(line.substr(line.find(':') + 1)) * 1024;
  }
  return 0;
}

// True if the system has large pages for a file that is written in large pieces.
bool SystemHasThem(const segment_test::TemporaryFolder& folder) {
  const std::string path = folder.File("control");
  const std::vector<uint8_t> bytes(kLargePageBytes, 1);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  CHECK(pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  CHECK(pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(bytes.size())) == static_cast<ssize_t>(bytes.size()));
  close(file);
  const MappedFile mapped(path);
  AskForLargePages(mapped.bytes());
  return LargeBytesOf(path, mapped.bytes()) > 0;
}

// In small pages, each search waited for page tables. Checks nothing unless the file system has large pages, as ext4 from Linux 6.16 on.
TEST(vector_files_are_mapped_in_large_pages) {
  const segment_test::TemporaryFolder folder;
  if (!SystemHasThem(folder)) return;
  constexpr uint32_t kCount = 20'000;
  constexpr uint32_t kDimensions = 128;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(size_t{kCount} * kDimensions);
  for (float& value : values) value = normal(random);
  std::vector<uint32_t> records(kCount);
  for (uint32_t i = 0; i < kCount; ++i) records[i] = i;
  const std::vector<uint32_t> passages(kCount);
  const std::string path = folder.File("vectors");
  vectors::BuildVectors(path, {kDimensions, values, records, passages}, {.nodes_min = vectors::kWithoutGraph});
  const auto segment = vectors::VectorSegment::Open(path);
  const MappedFile bytes(path);
  CHECK(segment->file_bytes() > 2 * kLargePageBytes);
  // All of the mapping is in large pages except for the end of the file.
  CHECK(LargeBytesOf(path, bytes.bytes()) >= segment->file_bytes() / kLargePageBytes * kLargePageBytes);
}

}  // namespace
}  // namespace gannet::test
