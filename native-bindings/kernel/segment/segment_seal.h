// The seal of a segment file: a checksum of all its bytes, at the end of its first page, which LMDB leaves empty.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <string>

namespace gannet {

// Returns the file offset of the seal for the given page size.
constexpr uint64_t SealOffset(uint64_t page_bytes) { return page_bytes - 2 * sizeof(uint64_t); }

// Writes the seal of a file that is no longer written to, without syncing it. Throws kIo or kDiskFull.
void SealSegmentFile(const std::string& path, uint64_t page_bytes);
// The same for an open file of `file_bytes` bytes, which are read into memory.
void SealSegmentFile(int file, uint64_t file_bytes, uint64_t page_bytes, const std::string& path);
// Reads the whole file. Throws Error(kDamaged) if its bytes are not those that were sealed, kIo if it cannot be read.
void CheckSegmentSeal(const std::string& path);

}  // namespace gannet
