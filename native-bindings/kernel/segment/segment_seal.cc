#include "segment_seal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "../common/bytes.h"
#include "../common/error.h"
#include "../common/file.h"
#include "../common/file_sum.h"
#include "lmdb_check.h"

namespace gannet {
namespace {

constexpr uint64_t kSealMagic = 0x6c6165732d746e67u;  // what tells a seal from an empty page
constexpr size_t kSealBytes = 2 * sizeof(uint64_t);
constexpr size_t kPageBytesOffset = 16 + 24;           // header of a page, then where LMDB keeps the page size

// Of everything before and behind the seal.
uint64_t SumWithoutSeal(std::span<const uint8_t> file, uint64_t offset) {
  const uint64_t before = SumOfBytes(file.first(offset));
  return before * 31 + SumOfBytes(file.subspan(offset + kSealBytes));
}

}  // namespace

void SealSegmentFile(const std::string& path, uint64_t page_bytes) {
  const uint64_t offset = SealOffset(page_bytes);
  std::array<uint64_t, 2> seal{kSealMagic, 0};
  {
    const MappedFile file(path);
    seal[1] = SumWithoutSeal(file.bytes(), offset);
  }
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) ThrowErrno(errno, "open " + path);
  ssize_t written = 0;
  do {
    written = pwrite(descriptor, seal.data(), sizeof(seal), static_cast<off_t>(offset));
  } while (written < 0 && errno == EINTR);
  const int error = written < 0 ? errno : written == static_cast<ssize_t>(sizeof(seal)) ? 0 : ENOSPC;
  close(descriptor);
  if (error != 0) ThrowErrno(error, "seal " + path);
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
