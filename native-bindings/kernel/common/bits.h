// Counts bits. The instruction for it is chosen at run time: without it, std::popcount calls a library function.
//
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gannet {

inline bool HasBit(const uint64_t* bits, uint32_t place) { return (bits[place / 64] >> (place % 64) & 1) != 0; }

inline uint32_t PopCount(uint64_t word) {
#if defined(__POPCNT__) || defined(__aarch64__)
  return static_cast<uint32_t>(std::popcount(word));
#else
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>((word * 0x0101010101010101u) >> 56);
#endif
}

// Counts the bits in `count` 64-bit words at any address.
uint32_t CountBits(const void* words, size_t count);

// Counts the bits in those of 64 words that are set in the mask `used`.
uint32_t CountUsedBits(const uint64_t* words, uint64_t used);

}  // namespace gannet
