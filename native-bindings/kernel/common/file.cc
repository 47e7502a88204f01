#include "file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "file_faults.h"
#include "mapped_memory.h"

namespace gannet {
namespace {

// Files up to this size are read instead of mapped.
constexpr size_t kReadBytesMax = 512 * 1024;
constexpr size_t kRewrittenBytes = 64 * 1024;

std::atomic<size_t> read_files_bytes = 0;

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : value_(open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) ThrowErrno(errno, "open " + path);
  }
  ~Descriptor() { close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void ThrowErrno(int error_number, const std::string& what) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  throw Error(full ? ErrorCode::kDiskFull : ErrorCode::kIo, what + ": " + std::strerror(error_number));
}

void ThrowUnread(int error_number, const std::string& what) {
  if (error_number == EIO) throw Error(ErrorCode::kUnreadable, what + ": " + std::strerror(error_number));
  ThrowErrno(error_number, what);
}

size_t ReadWhole(int file, uint8_t* out, size_t bytes, const std::string& path) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(file, out + done, bytes - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowUnread(errno, "read " + path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

int WriteWhole(int file, std::span<const uint8_t> bytes, uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

int Allocate(int file, uint64_t from, uint64_t to) {
#ifdef __linux__
  int code;
  do {
    code = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (code == EINTR);
  return code;
#else
  return AllocateByWriting(file, from, to);
#endif
}

int AllocateByWriting(int file, uint64_t from, uint64_t to) {
  std::array<uint8_t, kRewrittenBytes> piece;
  for (uint64_t at = from; at < to;) {
    const size_t wanted = std::min<uint64_t>(to - at, piece.size());
    const ssize_t got = pread(file, piece.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    std::fill(piece.begin() + got, piece.end(), uint8_t{0});  // after the end of the file
    const ssize_t written = pwrite(file, piece.data(), wanted, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    at += static_cast<uint64_t>(written);
  }
  return 0;
}

int SyncToDisk(int file) {
#ifdef F_FULLFSYNC
  // On macOS, only this call waits until the data is on the disk; some file systems do not support it.
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
  return fsync(file);
}

void Truncate(const std::string& path, uint64_t bytes) {
  const Descriptor file(path, O_RDWR);
  if (ftruncate(file.value(), static_cast<off_t>(bytes)) != 0) ThrowErrno(errno, "truncate " + path);
}

void Sync(const std::string& path) {
  const Descriptor file(path, O_RDWR);
  if (SyncToDisk(file.value()) != 0) ThrowErrno(errno, "sync " + path);
}

std::string UnfinishedPath(const std::string& path) {
  const std::string directory = DirectoryOf(path) + "/unfinished";
  if (mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) ThrowErrno(errno, "make " + directory);
  return directory + '/' + path.substr(path.rfind('/') + 1) + ".tmp";
}

void RenameAndSyncDirectory(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) ThrowErrno(errno, "rename " + from);
  const std::string directory = DirectoryOf(to);
  UnlinkGuard guard(to);  // a name that may not survive is a failure, and a failure leaves nothing
  const Descriptor handle(directory, O_RDONLY | O_DIRECTORY);
  if (SyncToDisk(handle.value()) != 0) ThrowErrno(errno, "sync " + directory);
  guard.Keep();
}

UnlinkGuard::~UnlinkGuard() {
  if (!path_.empty()) unlink(path_.c_str());
}

// The memory of a file that is read, which is counted as long as it is there.
class MappedFile::ReadBytes {
 public:
  // Returns null if all files that are read would take too much memory.
  static std::unique_ptr<ReadBytes> Of(size_t bytes) {
    auto read = std::unique_ptr<ReadBytes>(new ReadBytes(bytes));
    if (read_files_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes > kReadFilesBytesMax) return nullptr;
    read->data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    return read;
  }
  ~ReadBytes() { read_files_bytes.fetch_sub(bytes_, std::memory_order_relaxed); }
  ReadBytes(const ReadBytes&) = delete;
  ReadBytes& operator=(const ReadBytes&) = delete;

  uint8_t* data() { return data_.get(); }

 private:
  explicit ReadBytes(size_t bytes) : bytes_(bytes) {}

  size_t bytes_;
  std::unique_ptr<uint8_t[]> data_;
};

size_t MappedFile::ReadFilesBytes() { return read_files_bytes.load(std::memory_order_relaxed); }

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  struct stat status;
  if (fstat(file.value(), &status) != 0) ThrowErrno(errno, "stat " + path);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::kIo, path + " is not a regular file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  if (size_ <= kReadBytesMax) read_ = ReadBytes::Of(size_);
  if (read_ != nullptr) {
    size_ = ReadWhole(file.value(), read_->data(), size_, path);
    data_ = read_->data();
    return;
  }
  void* map = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.value(), 0);
  if (map == MAP_FAILED) ThrowErrno(errno, "map " + path);
  data_ = static_cast<const uint8_t*>(map);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr || read_ != nullptr) return;
  ForgetFault(data_);
  const UnmappingGuard guard;
  munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace gannet
