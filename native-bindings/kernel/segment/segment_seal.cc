#include "segment_seal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>

#include "../common/bytes.h"
#include "../common/error.h"
#include "../common/file.h"
#include "../common/file_sum.h"
#include "lmdb_check.h"

namespace gannet {
namespace {

constexpr uint64_t kSealMagic = 0x6c6165732d746e67u;  // tells a seal from an empty page
constexpr size_t kSealBytes = 2 * sizeof(uint64_t);
constexpr size_t kPageBytesOffset = 16 + 24;           // after a page header, where LMDB stores the page size

// Returns the sum of everything before and after the seal.
uint64_t SumWithoutSeal(std::span<const uint8_t> file, uint64_t offset) {
  const uint64_t before = SumOfBytes(file.first(offset));
  return before * 31 + SumOfBytes(file.subspan(offset + kSealBytes));
}

// Returns an errno value, 0 for success.
int WriteSeal(int file, uint64_t offset, uint64_t sum) {
  const std::array<uint64_t, 2> seal{kSealMagic, sum};
  return WriteWhole(file, {reinterpret_cast<const uint8_t*>(seal.data()), sizeof(seal)}, offset);
}

}  // namespace

void SealSegmentFile(const std::string& path, uint64_t page_bytes) {
  uint64_t sum;
  {
    const MappedFile file(path);
    sum = SumWithoutSeal(file.bytes(), SealOffset(page_bytes));
  }
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) ThrowErrno(errno, "open " + path);
  const int error = WriteSeal(descriptor, SealOffset(page_bytes), sum);
  close(descriptor);
  if (error != 0) ThrowErrno(error, "seal " + path);
}

void SealSegmentFile(int file, uint64_t file_bytes, uint64_t page_bytes, const std::string& path) {
  const auto read = std::make_unique_for_overwrite<uint8_t[]>(file_bytes);
  if (ReadWhole(file, read.get(), file_bytes, path) != file_bytes) throw Error(ErrorCode::kIo, path + " was cut");
  const uint64_t sum = SumWithoutSeal({read.get(), file_bytes}, SealOffset(page_bytes));
  if (const int error = WriteSeal(file, SealOffset(page_bytes), sum); error != 0) ThrowErrno(error, "seal " + path);
}

void CheckSegmentSeal(const std::string& path) {
  const MappedFile mapped(path);
  const std::span<const uint8_t> file = mapped.bytes();
  CheckLmdbFile(file);
  const uint64_t offset = SealOffset(Load<uint32_t>(file.data() + kPageBytesOffset));
  const uint64_t magic = Load<uint64_t>(file.data() + offset);
  const uint64_t sum = Load<uint64_t>(file.data() + offset + sizeof(uint64_t));
  if (magic != kSealMagic || sum != SumWithoutSeal(file, offset)) {
    throw Error(ErrorCode::kDamaged, "segment file: its bytes are not those that were written");
  }
}

}  // namespace gannet
