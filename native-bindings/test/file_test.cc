// Tests the allocation of disk space before it is written, and the memory of files that are read.
#include "../kernel/common/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

using Allocation = int (*)(int, uint64_t, uint64_t);

// Sizes that are no multiples of the bytes that AllocateByWriting rewrites at a time.
constexpr size_t kWrittenBytes = 150'001;
constexpr uint64_t kWanted = 400'003;

void ExpectRoomKept(Allocation allocate) {
  const TemporaryFolder folder;
  const std::string path = folder.File("allocated");
  std::vector<uint8_t> expected(kWrittenBytes);
  for (size_t at = 0; at < expected.size(); ++at) expected[at] = static_cast<uint8_t>(at * 7 + 1);
  WriteFile(path, expected);
  const int file = open(path.c_str(), O_RDWR);
  CHECK(file >= 0);
  CHECK_EQ(allocate(file, 0, 1000), 0);
  CHECK_EQ(allocate(file, 1000, kWanted), 0);
  CHECK_EQ(allocate(file, 500, kWanted - 1), 0);
  struct stat status;
  CHECK_EQ(fstat(file, &status), 0);
  CHECK_EQ(static_cast<uint64_t>(status.st_size), kWanted);
  CHECK(static_cast<uint64_t>(status.st_blocks) * 512 >= kWanted);
  std::vector<uint8_t> found(kWanted, 1);
  CHECK_EQ(ReadWhole(file, found.data(), found.size(), path), found.size());
  expected.resize(kWanted);
  CHECK(found == expected);
  close(file);
}

TEST(allocation_extends_the_file_and_keeps_its_contents) {
  ExpectRoomKept(Allocate);
  ExpectRoomKept(AllocateByWriting);
}

TEST(allocation_returns_the_error_of_the_system) {
  const TemporaryFolder folder;
  const std::string path = folder.File("read-only");
  WriteFile(path, std::vector<uint8_t>(10));
  const int file = open(path.c_str(), O_RDONLY);
  CHECK(file >= 0);
  CHECK_EQ(AllocateByWriting(file, 0, 20), EBADF);
  close(file);
#ifdef __linux__
  const int full = open("/dev/full", O_RDWR);
  CHECK(full >= 0);
  CHECK_EQ(AllocateByWriting(full, 0, 10), ENOSPC);
  close(full);
#endif
}

TEST(files_that_are_read_take_limited_memory_together) {
  constexpr size_t kBytes = 400'000;
  constexpr size_t kFiles = 100;
  const TemporaryFolder folder;
  const auto contents_of = [](size_t file) {
    std::vector<uint8_t> contents(kBytes);
    for (size_t at = 0; at < kBytes; ++at) contents[at] = static_cast<uint8_t>(at * 31 + file);
    return contents;
  };
  for (size_t file = 0; file < kFiles; ++file) WriteFile(folder.File(std::to_string(file)), contents_of(file));
  const size_t before = MappedFile::ReadFilesBytes();
  // The second time shows that closed files are no longer counted.
  for (int time = 0; time < 2; ++time) {
    std::vector<std::unique_ptr<MappedFile>> files;
    for (size_t file = 0; file < kFiles; ++file) {
      files.push_back(std::make_unique<MappedFile>(folder.File(std::to_string(file))));
      CHECK(MappedFile::ReadFilesBytes() <= kReadFilesBytesMax);
    }
    CHECK(MappedFile::ReadFilesBytes() > kReadFilesBytesMax - kBytes);
    for (size_t file = 0; file < kFiles; ++file) CHECK(std::ranges::equal(files[file]->bytes(), contents_of(file)));
  }
  CHECK_EQ(MappedFile::ReadFilesBytes(), before);
  CHECK_THROWS(kIo, MappedFile(folder.File("missing")));
  CHECK_EQ(MappedFile::ReadFilesBytes(), before);
}

}  // namespace
}  // namespace gannet::segment_test
