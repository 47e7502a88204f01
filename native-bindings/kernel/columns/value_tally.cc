#include "value_tally.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/simd.h"

namespace gannet {
namespace {

template <typename Raw>
uint32_t TallyPortable(const Raw* values, const uint64_t* bits, uint64_t words, uint32_t* table) {
  Raw greatest = 0;
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(std::countr_zero(words));
    const Raw* from = values + size_t{64} * word;
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      const Raw value = from[std::countr_zero(rest)];
      greatest = std::max(greatest, value);
      ++table[value];
    }
  }
  return greatest;
}

#if defined(__x86_64__)

// Number of gathered values after which they are counted.
constexpr uint32_t kGatheredMax = 1024;
// Number of bits in a word from which gathering its values side by side pays: it takes one step for values of one byte,
// two for values of two bytes.
template <typename Raw>
constexpr int kGatheredFrom = sizeof(Raw) == 1 ? 5 : 9;

#define GANNET_TALLY __attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt")))

// Writes the values whose bit is set side by side, and returns how many; 64 elements may be written. Raises `*greatest`
// to them, lane by lane.
GANNET_TALLY inline uint32_t Gather(const uint8_t* from, uint64_t bits, uint8_t* to, __m512i* greatest) {
  const __m512i values = _mm512_maskz_loadu_epi8(bits, from);
  *greatest = _mm512_max_epu8(*greatest, values);
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(bits, values));
  return static_cast<uint32_t>(__builtin_popcountll(bits));
}

GANNET_TALLY inline uint32_t Gather(const uint16_t* from, uint64_t bits, uint16_t* to, __m512i* greatest) {
  const auto low = static_cast<__mmask32>(bits);
  const auto high = static_cast<__mmask32>(bits >> 32);
  const auto low_count = static_cast<uint32_t>(__builtin_popcount(low));
  const __m512i first = _mm512_maskz_loadu_epi16(low, from);
  const __m512i second = _mm512_maskz_loadu_epi16(high, from + 32);
  *greatest = _mm512_max_epu16(*greatest, _mm512_max_epu16(first, second));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi16(low, first));
  _mm512_storeu_si512(to + low_count, _mm512_maskz_compress_epi16(high, second));
  return low_count + static_cast<uint32_t>(__builtin_popcount(high));
}

// Walking over bits one by one would wait for each bit and mispredict the end of each word; a row of values does
// neither.
template <typename Raw>
GANNET_TALLY uint32_t TallyAvx512(const Raw* values, const uint64_t* bits, uint64_t words, uint32_t* table) {
  Raw gathered[kGatheredMax + 64];
  uint32_t count = 0;
  Raw greatest = 0;
  __m512i greatest_by_lane = _mm512_setzero_si512();
  const auto tally = [&]() GANNET_TALLY {
    for (uint32_t i = 0; i < count; ++i) ++table[gathered[i]];
    count = 0;
  };
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(__builtin_ctzll(words));
    const Raw* from = values + size_t{64} * word;
    uint64_t rest = bits[word];
    if (__builtin_popcountll(rest) < kGatheredFrom<Raw>) {
      for (; rest != 0; rest &= rest - 1) {
        const Raw value = from[__builtin_ctzll(rest)];
        greatest = std::max(greatest, value);
        ++table[value];
      }
      continue;
    }
    count += Gather(from, rest, gathered + count, &greatest_by_lane);
    if (count > kGatheredMax) tally();
  }
  tally();
  Raw lanes[64 / sizeof(Raw)];
  _mm512_storeu_si512(lanes, greatest_by_lane);
  for (const Raw lane : lanes) greatest = std::max(greatest, lane);
  return greatest;
}

#undef GANNET_TALLY

template <typename Raw>
decltype(&TallyPortable<Raw>) ChooseTally() {
  const InstructionSets sets = ProcessorInstructionSets();
  return sets.avx512bw && sets.avx512vbmi2 ? TallyAvx512<Raw> : TallyPortable<Raw>;
}

#else

template <typename Raw>
decltype(&TallyPortable<Raw>) ChooseTally() {
  return TallyPortable<Raw>;
}

#endif

const auto kTally8 = ChooseTally<uint8_t>();
const auto kTally16 = ChooseTally<uint16_t>();

}  // namespace

uint32_t TallyWords(const uint8_t* values, const uint64_t* bits, uint64_t words, uint32_t* table) {
  return kTally8(values, bits, words, table);
}

uint32_t TallyWords(const uint16_t* values, const uint64_t* bits, uint64_t words, uint32_t* table) {
  return kTally16(values, bits, words, table);
}

}  // namespace gannet
