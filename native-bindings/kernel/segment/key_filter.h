// Tells of most keys that a small segment does not have that it does not have them, without a look into its file.
//
// Beside writes a list has a handful of segments of a few documents each, and every search asks each of them for every
// term of its plan, nearly always in vain: a look-up in LMDB takes some hundred nanoseconds, one here about ten. A Bloom
// filter (Bloom 1970) whose bits for a key lie in one word, so that a look touches one cache line (Putze, Sanders and
// Singler 2007); one key in about fifty seems to be there and is not.
//
// Thread-safety: immutable once the keys are added.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../common/bytes.h"
#include "../common/hash.h"

namespace gannet {

class KeyFilter {
 public:
  // Every key may be there.
  KeyFilter() = default;
  // For about so many keys; two to four bytes each.
  explicit KeyFilter(size_t keys) : words_(std::bit_ceil(keys / kKeysPerWord + 1)), seed_(ProcessSeed()) {}

  void Add(std::span<const uint8_t> key) {
    const uint32_t hash = HashBytes(AsText(key), seed_);
    words_[WordOf(hash)] |= BitsOf(hash);
  }

  // Always true of a key that was added.
  bool MayContain(std::span<const uint8_t> key) const {
    if (words_.empty()) return true;
    const uint32_t hash = HashBytes(AsText(key), seed_);
    return (~words_[WordOf(hash)] & BitsOf(hash)) == 0;
  }

 private:
  static constexpr size_t kKeysPerWord = 4;

  size_t WordOf(uint32_t hash) const { return (hash >> 12) & (words_.size() - 1); }
  static uint64_t BitsOf(uint32_t hash) { return uint64_t{1} << (hash & 63) | uint64_t{1} << (hash >> 6 & 63); }

  std::vector<uint64_t> words_;  // a power of two of them, or none
  uint64_t seed_ = 0;
};

}  // namespace gannet
