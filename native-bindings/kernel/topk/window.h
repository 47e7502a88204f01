// A window: kWindowSize consecutive documents of a segment, the unit of evaluation.
//
// Everything behind the evaluator (deletions, filter, counts, facets, sorting, the top hits) sees windows and
// nothing else, so that how matches are found and scored can change without them.
//
// Invariant that saves clearing: a sparse array (scores, flags, frequencies) is all zero between windows. Whoever
// writes to it notes the 64-document words that it touched in a mask, and wipes these.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "../format.h"

namespace gannet {

inline constexpr uint32_t kWindowWords = kWindowSize / 64;
static_assert(kWindowWords == 64, "the mask of touched words is one uint64_t");

// A documents' range of a segment: [base, end), base a multiple of kWindowSize.
struct WindowRange {
  uint32_t base;
  uint32_t end;
};

struct Window {
  WindowRange range{0, 0};
  alignas(64) uint64_t matches[kWindowWords] = {};
  // Good where `matches` is set and the evaluator scores; anything elsewhere.
  alignas(64) float scores[kWindowSize] = {};
};

// std::popcount without the instruction is a call; these few operations are not.
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

inline uint32_t CountBits(const uint64_t* bits) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) count += PopCount(bits[word]);
  return count;
}

inline bool AnyBit(const uint64_t* bits) {
  uint64_t any = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) any |= bits[word];
  return any != 0;
}

inline void ClearBits(uint64_t* bits) { std::memset(bits, 0, kWindowWords * sizeof(uint64_t)); }

inline void IntersectBits(uint64_t* bits, const uint64_t* other) {
  for (uint32_t word = 0; word < kWindowWords; ++word) bits[word] &= other[word];
}

inline void SubtractBits(uint64_t* bits, const uint64_t* other) {
  for (uint32_t word = 0; word < kWindowWords; ++word) bits[word] &= ~other[word];
}

inline void UniteBits(uint64_t* bits, const uint64_t* other) {
  for (uint32_t word = 0; word < kWindowWords; ++word) bits[word] |= other[word];
}

// The first `count` bits (of at most kWindowSize) set, the rest clear.
inline void FillBits(uint64_t* bits, uint32_t count) {
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    const uint32_t begin = word * 64;
    bits[word] = count >= begin + 64 ? ~uint64_t{0} : count > begin ? (uint64_t{1} << (count - begin)) - 1 : 0;
  }
}

// One bit per word that has any.
inline uint64_t WordMask(const uint64_t* bits) {
  uint64_t mask = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) mask |= uint64_t{bits[word] != 0} << word;
  return mask;
}

template <typename Visit>
inline void ForEachBit(uint64_t word, uint32_t offset, Visit&& visit) {
  while (word != 0) {
    visit(offset + static_cast<uint32_t>(std::countr_zero(word)));
    word &= word - 1;
  }
}

// Calls visit(offset in the window) in ascending order.
template <typename Visit>
inline void ForEachBit(const uint64_t* bits, Visit&& visit) {
  for (uint32_t word = 0; word < kWindowWords; ++word) ForEachBit(bits[word], word * 64, visit);
}

// Zeroes the 64 elements of every word in the mask.
template <typename T>
inline void WipeWords(T* values, uint64_t words) {
  if (words == ~uint64_t{0}) {
    std::memset(values, 0, kWindowSize * sizeof(T));
    return;
  }
  ForEachBit(words, 0, [&](uint32_t word) { std::memset(values + word * 64, 0, 64 * sizeof(T)); });
}

// The words that hold the offsets [first, last].
inline uint64_t WordRange(uint32_t first, uint32_t last) {
  const uint32_t low = first / 64;
  const uint32_t high = last / 64;
  return (~uint64_t{0} << low) & (~uint64_t{0} >> (63 - high));
}

}  // namespace gannet
