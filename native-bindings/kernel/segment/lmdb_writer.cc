#include "lmdb_writer.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "../common/file.h"
#include "../common/mapped_memory.h"
#include "lmdb_layout.h"
#include "segment_seal.h"

namespace gannet {
namespace {

// Sizes of mdb.c: the entry of a node in its page's table, and the least number of nodes for which a page must have
// room.
constexpr uint64_t kNodePointerBytes = 2;
constexpr uint64_t kNodesPerPageMin = 2;

// A file with a size bound up to this is for few documents (most of the bound is slack) and is written from memory.
constexpr uint64_t kBufferedBytesMax = 80u << 20;

constexpr uint64_t kAllocationStepMin = 64u << 10;
constexpr uint64_t kAllocationStepMax = 64u << 20;

[[noreturn]] void ThrowUnwritten(int code, const std::string& what) {
  if (code > 0) ThrowErrno(code, what);
  if (code == MDB_MAP_FULL) throw Error(ErrorCode::kLimit, what + ": the segment outgrew its reserved size");
  throw Error(ErrorCode::kIo, what + ": " + mdb_strerror(code));
}

MDB_val AsValue(std::span<const uint8_t> bytes) {
  return {bytes.size(), const_cast<uint8_t*>(bytes.data())};
}

}  // namespace

LmdbWriter::LmdbWriter(const std::string& path, uint64_t size_bytes_max)
    : path_(path), is_buffered_(size_bytes_max <= kBufferedBytesMax) {
  unlink(path.c_str());
  // The file is created here, so that a missing or read-only directory is reported with the errno of open.
  const int created = open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (created < 0) ThrowErrno(errno, "create " + path);
  close(created);

  int code = mdb_env_create(&env_);
  if (code != 0) ThrowUnwritten(code, "create environment");
  try {
    const uint64_t os_page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    map_bytes_ = (std::max<uint64_t>(size_bytes_max, 1u << 20) + os_page - 1) / os_page * os_page;
    code = mdb_env_set_mapsize(env_, map_bytes_);
    if (code == 0) {
      // Read-ahead would fill dozens of pages with zeros for a segment of three pages.
      const unsigned flags = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD;
      code = mdb_env_open(env_, path.c_str(), flags | (is_buffered_ ? 0u : MDB_WRITEMAP), 0644);
    }
    if (code != 0) ThrowUnwritten(code, "open " + path);
    if ((code = mdb_env_get_fd(env_, &file_)) != 0) ThrowUnwritten(code, "descriptor of " + path);
    if ((code = mdb_txn_begin(env_, nullptr, 0, &txn_)) != 0) ThrowUnwritten(code, "begin " + path);
    if ((code = mdb_dbi_open(txn_, nullptr, 0, &dbi_)) != 0) ThrowUnwritten(code, "open database " + path);
    if ((code = mdb_cursor_open(txn_, dbi_, &cursor_)) != 0) ThrowUnwritten(code, "open cursor " + path);
    MDB_stat status;
    if ((code = mdb_stat(txn_, dbi_, &status)) != 0) ThrowUnwritten(code, "stat " + path);
    page_bytes_ = status.ms_psize;
    node_bytes_max_ = (((page_bytes_ - kLmdbPageHeaderBytes) / kNodesPerPageMin) & ~uint64_t{1}) - kNodePointerBytes;
  } catch (...) {
    Close();
    throw;
  }
}

// LMDB reads back its own pages while it writes; if they are zeros after a fault, it reports that they are not its own.
// The fault is reported instead.
void LmdbWriter::ThrowUnwrittenHere(int code, const std::string& what) const {
  watch_.RequireNone("write segment");
  ThrowUnwritten(code, what);
}

LmdbWriter::~LmdbWriter() { Close(); }

void LmdbWriter::Close() {
  if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  if (txn_ != nullptr) mdb_txn_abort(txn_);
  if (env_ != nullptr) {
    const UnmappingGuard guard;
    mdb_env_close(env_);
  }
  cursor_ = nullptr;
  txn_ = nullptr;
  env_ = nullptr;
}

void LmdbWriter::EnsureAllocated(size_t key_bytes, size_t value_bytes) {
  uint64_t node = kLmdbNodeHeaderBytes + key_bytes + value_bytes;
  if (node > node_bytes_max_) {
    overflow_pages_ += (kLmdbPageHeaderBytes + value_bytes + page_bytes_ - 1) / page_bytes_;
    node = kLmdbNodeHeaderBytes + key_bytes + sizeof(uint64_t);
  }
  node = ((node + 1) & ~uint64_t{1}) + kNodePointerBytes;
  if (node > leaf_bytes_left_) {
    ++leaf_pages_;
    leaf_bytes_left_ = page_bytes_ - kLmdbPageHeaderBytes;
  }
  leaf_bytes_left_ -= node;
  // Branch pages are at least a third full of nodes of at most 8 + 511 bytes (a branch splits in the middle), so there
  // is at most one for every two leaves; keys of a segment are short, and far fewer branches are made. The slack covers
  // the two meta pages and the splits of one put.
  const uint64_t pages = 2 + leaf_pages_ + leaf_pages_ / 2 + overflow_pages_ + 40;
  const uint64_t needed = std::min(pages * page_bytes_, map_bytes_);
  if (needed <= allocated_bytes_) return;
  if (is_buffered_) {
    allocated_bytes_ = needed;
    return;
  }
  const uint64_t step = std::clamp(needed / 4, kAllocationStepMin, kAllocationStepMax);
  const uint64_t target = std::min(needed + step, map_bytes_);
  const int code = Allocate(file_, allocated_bytes_, target);
  if (code != 0) ThrowErrno(code, "allocate " + path_);
  allocated_bytes_ = target;
}

void LmdbWriter::Append(std::span<const uint8_t> key, size_t value_bytes, const uint8_t* value, uint8_t** reserved) {
  if (value_bytes > kValueBytesMax) throw Error(ErrorCode::kLimit, "a value of a segment would exceed 3.75 GiB");
  EnsureAllocated(key.size(), value_bytes);
  MDB_val key_value = AsValue(key);
  MDB_val data{value_bytes, const_cast<uint8_t*>(value)};
  const unsigned flags = MDB_APPEND | (reserved != nullptr ? MDB_RESERVE : 0);
  const int code = mdb_cursor_put(cursor_, &key_value, &data, flags);
  if (code != 0) ThrowUnwrittenHere(code, "write " + path_);
  if (reserved != nullptr) *reserved = static_cast<uint8_t*>(data.mv_data);
}

void LmdbWriter::Put(std::span<const uint8_t> key, std::span<const uint8_t> value) {
  Append(key, value.size(), value.data(), nullptr);
}

uint8_t* LmdbWriter::Reserve(std::span<const uint8_t> key, size_t bytes) {
  uint8_t* reserved = nullptr;
  Append(key, bytes, nullptr, &reserved);
  return reserved;
}

void LmdbWriter::Overwrite(std::span<const uint8_t> key, std::span<const uint8_t> value) {
  MDB_val key_value = AsValue(key);
  MDB_val data = AsValue(value);
  // LMDB replaces a value of the same size in place, because the page belongs to this transaction.
  const int code = mdb_put(txn_, dbi_, &key_value, &data, 0);
  if (code != 0) ThrowUnwrittenHere(code, "write " + path_);
}

uint64_t LmdbWriter::Finish() {
  const uint64_t bytes = FinishUnwatched();
  watch_.RequireNone("write segment");
  return bytes;
}

uint64_t LmdbWriter::FinishUnwatched() {
  mdb_cursor_close(cursor_);
  cursor_ = nullptr;
  const int code = mdb_txn_commit(txn_);
  txn_ = nullptr;
  // LMDB only reports that a write was cut short; Allocate tells whether the disk is full.
  if (code == EIO && is_buffered_) {
    const int reason = Allocate(file_, 0, allocated_bytes_);
    if (reason != 0) ThrowErrno(reason, "write " + path_);
  }
  if (code != 0) ThrowUnwrittenHere(code, "commit " + path_);
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  const uint64_t bytes = (info.me_last_pgno + 1) * page_bytes_;
  if (is_buffered_) {
    FinishFile(file_, bytes);
    Close();
    return bytes;
  }
  // The file is unmapped first, so that nothing can write after the cut.
  Close();
  Truncate(path_, bytes);
  SealSegmentFile(path_, page_bytes_);
  Sync(path_);
  return bytes;
}

void LmdbWriter::FinishFile(int file, uint64_t bytes) {
  struct stat status;
  if (fstat(file, &status) != 0) ThrowErrno(errno, "stat " + path_);
  // Pages that LMDB allocated and did not need are at the end of the file, if anywhere.
  if (static_cast<uint64_t>(status.st_size) != bytes && ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    ThrowErrno(errno, "cut " + path_);
  }
  SealSegmentFile(file, bytes, page_bytes_, path_);
  if (SyncToDisk(file) != 0) ThrowErrno(errno, "sync " + path_);
}

std::vector<uint8_t> MakeKey(Key letter) { return {static_cast<uint8_t>(letter)}; }

std::vector<uint8_t> MakeKey16(Key letter, uint32_t number) {
  return {static_cast<uint8_t>(letter), static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

std::vector<uint8_t> MakeKey16(Key letter, uint32_t number, uint8_t part) {
  return {static_cast<uint8_t>(letter), static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number), part};
}

std::vector<uint8_t> MakeKey32(Key letter, uint32_t number) {
  return {static_cast<uint8_t>(letter), static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
          static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

std::vector<uint8_t> MakeKey8(Key letter, uint8_t part) { return {static_cast<uint8_t>(letter), part}; }

}  // namespace gannet
