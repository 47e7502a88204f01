// Writes one LMDB file in one transaction, with appends in key order: through a writable map or, if the file is small,
// from memory. For a small file, making, touching and removing a map costs more than the writing itself: its pages are
// zeroed one by one, the file is extended and cut, and unmapping interrupts all processors that run the process.
//
// A store through the map on a full disk would raise SIGBUS instead of returning an error. So the writer allocates the
// blocks of the file (Allocate) before LMDB can touch them: it mirrors how LMDB fills pages with appended keys and
// stays some pages ahead. On copy-on-write file systems (btrfs with compression, ZFS) fallocate may promise nothing,
// and the protection is only as good as that promise.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../common/file_faults.h"
#include "../format.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

namespace gannet {

inline constexpr uint64_t kValueBytesMax = 0xf0000000;  // LMDB's own limit is 2^32 - 1

class LmdbWriter {
 public:
  // Makes or replaces the file. `size_bytes_max` bounds the mapped address space; if it is small, the file is written
  // from memory.
  LmdbWriter(const std::string& path, uint64_t size_bytes_max);
  // Without Finish, the transaction is aborted and the file stays: the caller unlinks it.
  ~LmdbWriter();
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  // Appends a value; keys must ascend. Throws Error(kDiskFull), Error(kIo), and Error(kLimit) for a value over
  // kValueBytesMax.
  void Put(std::span<const uint8_t> key, std::span<const uint8_t> value);
  // As Put, for a value that the caller writes to the returned memory before the next call.
  uint8_t* Reserve(std::span<const uint8_t> key, size_t bytes);
  // Replaces an earlier value by one of the same size.
  void Overwrite(std::span<const uint8_t> key, std::span<const uint8_t> value);

  // Commits, cuts the file to its used pages, syncs it, and returns its size. Throws Error(kUnreadable) if any mapped
  // file could not be read since the writer was made, because what was written may come from it.
  uint64_t Finish();

 private:
  uint64_t FinishUnwatched();
  [[noreturn]] void ThrowUnwrittenHere(int code, const std::string& what) const;
  void Append(std::span<const uint8_t> key, size_t value_bytes, const uint8_t* value, uint8_t** reserved);
  void EnsureAllocated(size_t key_bytes, size_t value_bytes);
  // Cuts, seals and syncs the complete file.
  void FinishFile(int file, uint64_t bytes);
  void Close();

  FaultWatch watch_;
  std::string path_;
  const bool is_buffered_;  // pages stay in memory until the commit writes them
  int file_ = -1;  // LMDB's descriptor, owned by the environment
  MDB_env* env_ = nullptr;
  MDB_txn* txn_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  unsigned dbi_ = 0;
  uint64_t map_bytes_ = 0;
  uint64_t page_bytes_ = 0;
  uint64_t node_bytes_max_ = 0;    // larger nodes go to overflow pages
  uint64_t leaf_bytes_left_ = 0;   // in the leaf that is being filled
  uint64_t leaf_pages_ = 0;
  uint64_t overflow_pages_ = 0;
  uint64_t allocated_bytes_ = 0;   // if is_buffered_: upper bound of the bytes to be written
};

// Keys of parts: the letter, a big-endian number and a part, as in format.h.
std::vector<uint8_t> MakeKey(Key letter);
std::vector<uint8_t> MakeKey16(Key letter, uint32_t number);            // 'L'
std::vector<uint8_t> MakeKey16(Key letter, uint32_t number, uint8_t part);  // 'C'
std::vector<uint8_t> MakeKey32(Key letter, uint32_t number);            // 'P'
std::vector<uint8_t> MakeKey8(Key letter, uint8_t part);                // 'R'

}  // namespace gannet
