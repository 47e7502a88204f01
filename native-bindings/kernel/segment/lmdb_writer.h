// Writes one LMDB file with appends in key order in one transaction: through a write map, or, where the file can only be small, from
// memory. For a small file a map that is made, touched and removed again costs more than what is written: its pages are filled with zeros one
// by one, the file is stretched and cut, and when the map goes, all processors that the process runs on are interrupted.
//
// A store through the mapping on a full disk would be SIGBUS, not an error, so the writer allocates the blocks
// of the file (Allocate) ahead of what LMDB may touch: it mirrors how LMDB fills pages with appended keys
// and stays some pages ahead. On file systems that promise nothing by fallocate (copy-on-write ones: btrfs with
// compression, ZFS) that protection is as good as their word.
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
  // Makes or replaces the file. `size_bytes_max` bounds the address space that is mapped; a small one says that
  // the file is small.
  LmdbWriter(const std::string& path, uint64_t size_bytes_max);
  ~LmdbWriter();  // without Finish, the transaction is dropped (the file stays: the caller unlinks it)
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  // Keys have to ascend. Error(kDiskFull), Error(kIo), Error(kLimit) for a value over kValueBytesMax.
  void Put(std::span<const uint8_t> key, std::span<const uint8_t> value);
  // The same for a value that the caller fills in at once, before the next call.
  uint8_t* Reserve(std::span<const uint8_t> key, size_t bytes);
  // Replaces a value that was put before with one of the same size.
  void Overwrite(std::span<const uint8_t> key, std::span<const uint8_t> value);

  // Commits, cuts the file to its used pages, syncs it, and returns its size. Error(kUnreadable) where any mapped file could not be read
  // since the writer was made: what was written may come from it.
  uint64_t Finish();

 private:
  uint64_t FinishUnwatched();
  [[noreturn]] void ThrowUnwrittenHere(int code, const std::string& what) const;
  void Append(std::span<const uint8_t> key, size_t value_bytes, const uint8_t* value, uint8_t** reserved);
  void EnsureAllocated(size_t key_bytes, size_t value_bytes);
  // Cuts, seals and syncs the file, which is whole.
  void FinishFile(int file, uint64_t bytes);
  void Close();

  FaultWatch watch_;
  std::string path_;
  const bool is_buffered_;  // its pages are memory until the commit writes them
  int file_ = -1;  // LMDB's descriptor, owned by the environment
  MDB_env* env_ = nullptr;
  MDB_txn* txn_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  unsigned dbi_ = 0;
  uint64_t map_bytes_ = 0;
  uint64_t page_bytes_ = 0;
  uint64_t node_bytes_max_ = 0;    // a bigger node goes to overflow pages
  uint64_t leaf_bytes_left_ = 0;   // of the leaf that is being filled
  uint64_t leaf_pages_ = 0;
  uint64_t overflow_pages_ = 0;
  uint64_t allocated_bytes_ = 0;   // buffered: that are to be written, at most
};

// Key of a part: the letter, a big-endian number, a part, as format.h says.
std::vector<uint8_t> MakeKey(Key letter);
std::vector<uint8_t> MakeKey16(Key letter, uint32_t number);            // 'L'
std::vector<uint8_t> MakeKey16(Key letter, uint32_t number, uint8_t part);  // 'C'
std::vector<uint8_t> MakeKey32(Key letter, uint32_t number);            // 'P'
std::vector<uint8_t> MakeKey8(Key letter, uint8_t part);                // 'R'

}  // namespace gannet
