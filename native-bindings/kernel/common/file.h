// The few file operations of the kernel; they report errors as Error.
//
// Thread-safety: functions of their arguments; a MappedFile is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "error.h"

namespace gannet {

// Throws for an errno value: kDiskFull for ENOSPC, EDQUOT and EFBIG, else kIo. `what` describes what was tried.
[[noreturn]] void ThrowErrno(int error_number, const std::string& what);
// The same for a failed read: kUnreadable for EIO.
[[noreturn]] void ThrowUnread(int error_number, const std::string& what);

// Reads the first `bytes` of an open file. Returns the number of bytes read: fewer if the file was cut meanwhile.
size_t ReadWhole(int file, uint8_t* out, size_t bytes, const std::string& path);
// Writes all bytes at `at`, by several calls if the system takes them in parts. Returns 0, or the errno value: ENOSPC if
// there is no space.
int WriteWhole(int file, std::span<const uint8_t> bytes, uint64_t at);
// Reserves disk space for [from, to) of a file that is open for reading and writing. Existing content stays, and the
// file becomes at least `to` bytes long. Returns 0, or the errno value: ENOSPC if there is no space. Only one thread
// may write the file.
int Allocate(int file, uint64_t from, uint64_t to);
// The same for systems that reserve no space for unwritten bytes (other than Linux): rewrites each byte unchanged.
int AllocateByWriting(int file, uint64_t from, uint64_t to);
// Returns 0 once everything written to the file or directory is on disk, or -1 with errno.
int SyncToDisk(int file);
// Cuts the file to `bytes`.
void Truncate(const std::string& path, uint64_t bytes);
// Returns once everything written to the file is on disk.
void Sync(const std::string& path);
// Returns where a file that is to have this path is written: in a separate directory beside it, which is made if it is
// missing. So whoever watches the directory of finished files is not notified of every write.
std::string UnfinishedPath(const std::string& path);
// Renames within a file system and syncs the directory of `to`, so that the name survives a power failure. On failure
// neither name exists.
void RenameAndSyncDirectory(const std::string& from, const std::string& to);

// Unlinks a file at the end of its scope unless Keep was called.
class UnlinkGuard {
 public:
  explicit UnlinkGuard(std::string path) : path_(std::move(path)) {}
  ~UnlinkGuard();
  UnlinkGuard(const UnlinkGuard&) = delete;
  UnlinkGuard& operator=(const UnlinkGuard&) = delete;
  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

// The bytes of a whole file: mapped, or read if the file is small. Unmapping interrupts all processors that run the
// process, and a service that takes single writes makes and opens small files all the time. All files that are read
// take at most kReadFilesBytesMax together: beyond that, small ones are mapped, too. An index that is made anew in a
// small budget comes into force as hundreds of them.
inline constexpr size_t kReadFilesBytesMax = 16 * 1024 * 1024;
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const uint8_t> bytes() const { return {data_, size_}; }

  // Returns the memory that all files take which are read.
  static size_t ReadFilesBytes();

 private:
  class ReadBytes;
  std::unique_ptr<ReadBytes> read_;  // null if mapped
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gannet
