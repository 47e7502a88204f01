// The few file operations of the kernel, with errors as Error.
//
// Thread-safety: functions of their arguments; a MappedFile is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "error.h"

namespace gannet {

// Throws for an errno value: kDiskFull for ENOSPC, EDQUOT and EFBIG, else kIo. `what` says what was tried.
[[noreturn]] void ThrowErrno(int error_number, const std::string& what);
// The same where a file was read: kUnreadable for EIO.
[[noreturn]] void ThrowUnread(int error_number, const std::string& what);

// Reads the first `bytes` of an open file. Returns how much of them there was: less where it was cut meanwhile.
size_t ReadWhole(int file, uint8_t* out, size_t bytes, const std::string& path);
// Has the disk keep room for [from, to) of a file that is open for reading and writing; what is there stays, and the file is at least as long
// as `to` then. Returns 0, or the errno value: ENOSPC where there is no room. One thread writes the file.
int Allocate(int file, uint64_t from, uint64_t to);
// The same where the system keeps no room for what is not written (other than Linux): each byte is written as it is.
int AllocateByWriting(int file, uint64_t from, uint64_t to);
// Returns 0 when everything that was written to the file or directory is on disk, or -1 with errno.
int SyncToDisk(int file);
// Cuts the file to `bytes`.
void Truncate(const std::string& path, uint64_t bytes);
// Returns when everything that was written to the file is on disk.
void Sync(const std::string& path);
// Where a file is written that is to have this path: in a directory of its own beside it, which is made where it is not there. Whoever
// watches the directory of finished files is not told of every write.
std::string UnfinishedPath(const std::string& path);
// Renames within a file system and syncs the directory of `to`, so that the name survives a power cut. On failure neither
// name exists.
void RenameAndSyncDirectory(const std::string& from, const std::string& to);

// Unlinks a file when it goes out of scope, unless told that the file is wanted.
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

// The bytes of a whole file: mapped, or read where they are few. A mapping that goes costs all processors that the process runs on
// an interrupt, and a service that takes single writes makes and opens small files all the time.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  std::unique_ptr<uint8_t[]> read_;  // null: mapped
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gannet
