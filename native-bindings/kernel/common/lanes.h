// Replacements for AVX-512 instructions that AVX2 lacks: compressing the lanes whose bit is set (by a table of eight
// bits), and counting bits (by a table of half bytes, Mula's method).
//
// Thread-safety: pure functions.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <cstdint>

namespace gannet {

using EightLanes = std::array<uint8_t, 8>;

// By the value of eight bits: the numbers of the set bits, ascending; 0 in the remaining lanes.
inline constexpr std::array<EightLanes, 256> kSetLanes = [] {
  std::array<EightLanes, 256> table{};
  for (unsigned bits = 0; bits < table.size(); ++bits) {
    unsigned found = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) != 0) table[bits][found++] = lane;
    }
  }
  return table;
}();

#if defined(__x86_64__)
// Writes `first` + lane for each of the eight lanes whose bit is set, ascending, and returns how many. Always writes
// eight elements.
__attribute__((target("avx2,popcnt"))) inline uint32_t WriteSetLanes(uint32_t first, uint32_t bits, uint32_t* out) {
  const __m128i set = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kSetLanes[bits].data()));
  const __m256i numbers = _mm256_add_epi32(_mm256_cvtepu8_epi32(set), _mm256_set1_epi32(static_cast<int>(first)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), numbers);
  return static_cast<uint32_t>(__builtin_popcount(bits));
}

// Counts the set bits of each byte.
__attribute__((target("avx2"))) inline __m256i BitsByByte(__m256i bytes) {
  const __m256i of_half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i half = _mm256_set1_epi8(0xf);
  const __m256i low = _mm256_shuffle_epi8(of_half, _mm256_and_si256(bytes, half));
  const __m256i high = _mm256_shuffle_epi8(of_half, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
  return _mm256_add_epi8(low, high);
}

// Sums the eight bytes of each 64-bit word.
__attribute__((target("avx2"))) inline __m256i SumByWord(__m256i bytes) { return _mm256_sad_epu8(bytes, _mm256_setzero_si256()); }
#endif

}  // namespace gannet
