// A fast hash of short byte strings. Not for anything that outlives the process: the seed is random.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes.h"

namespace gannet {

// Returns a random number per process, so that nobody can prepare a document whose words collide.
uint64_t ProcessSeed();

inline uint64_t MixHash(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Multiplies and folds, eight bytes at a time; the multiplier is odd and has evenly spread bits.
inline uint32_t HashBytes(std::string_view text, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ (left * kMultiplier);
  for (; left >= 8; left -= 8, at += 8) hash = MixHash(hash ^ Load<uint64_t>(at), kMultiplier);
  uint64_t tail = 0;
  if (left >= 4) {
    tail = Load<uint32_t>(at) | static_cast<uint64_t>(Load<uint32_t>(at + left - 4)) << 32;
  } else if (left > 0) {
    tail = static_cast<uint8_t>(at[0]) | static_cast<uint64_t>(static_cast<uint8_t>(at[left / 2])) << 8 |
           static_cast<uint64_t>(static_cast<uint8_t>(at[left - 1])) << 16;
  }
  hash = MixHash(hash ^ tail, kMultiplier ^ seed);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace gannet
