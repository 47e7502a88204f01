#include "selection.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/lanes.h"
#include "../common/simd.h"
#include "window.h"

namespace gannet {
namespace {

uint32_t SelectBaseline(const float* values, uint32_t count, float least, uint32_t* places) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    places[found] = i;
    found += values[i] >= least;
  }
  return found;
}

uint32_t SelectWithBitsBaseline(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits,
                                float least, float least_with_bit, uint32_t* places) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t offset = offsets[i];
    const auto has_bit = static_cast<uint32_t>(bits[offset / 64] >> (offset % 64)) & 1;
    places[found] = i;
    found += static_cast<uint32_t>(values[i] >= least) | (has_bit & static_cast<uint32_t>(values[i] >= least_with_bit));
  }
  return found;
}

uint32_t SelectMarkedBaseline(const uint32_t* documents, uint32_t count, uint32_t base, const uint64_t* bits,
                              uint32_t* places) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t offset = documents[i] - base;
    places[found] = i;
    found += static_cast<uint32_t>(bits[offset / 64] >> (offset % 64)) & 1;
  }
  return found;
}

uint32_t SelectFrequentBaseline(const float* frequencies, const uint32_t* offsets, uint32_t count, const uint8_t* norms,
                                const FrequencyBar& bar, const uint64_t* bits, uint32_t* places) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t offset = offsets[i];
    const auto has_bit = static_cast<uint32_t>(bits[offset / 64] >> (offset % 64)) & 1;
    places[found] = i;
    found += has_bit | static_cast<uint32_t>(frequencies[i] >= bar.by_norm[norms[offset]]);
  }
  return found;
}

#if defined(__x86_64__)

// Returns 64 flags as bits; the first flag is the lowest bit.
uint64_t FlagWord(const uint8_t* flags) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + i));
    const int mask = _mm_movemask_epi8(_mm_slli_epi16(bytes, 7));  // Bit 0 of every byte becomes its sign.
    word |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << i;
  }
  return word;
}

uint64_t CompareWordBaseline(const float* values, float threshold) {
  const __m128 bound = _mm_set1_ps(threshold);
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; i += 16) {
    const __m128i a = _mm_castps_si128(_mm_cmpge_ps(_mm_loadu_ps(values + i), bound));
    const __m128i b = _mm_castps_si128(_mm_cmpge_ps(_mm_loadu_ps(values + i + 4), bound));
    const __m128i c = _mm_castps_si128(_mm_cmpge_ps(_mm_loadu_ps(values + i + 8), bound));
    const __m128i d = _mm_castps_si128(_mm_cmpge_ps(_mm_loadu_ps(values + i + 12), bound));
    const __m128i packed = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    word |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(packed))) << i;
  }
  return word;
}

__attribute__((target("avx512f,avx512bw"))) void CompareWordsAvx512(const float* values, float threshold, uint64_t words,
                                                                   uint64_t* bits) {
  const __m512 bound = _mm512_set1_ps(threshold);
  const auto compare = [&](const float* from) __attribute__((target("avx512f,avx512bw"))) {
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(from), bound, _CMP_GE_OQ);
  };
  const auto compare_word = [&](uint32_t word) __attribute__((target("avx512f,avx512bw"))) {
    const float* from = values + word * 64;
    const __mmask32 low = _mm512_kunpackw(compare(from + 16), compare(from));
    const __mmask32 high = _mm512_kunpackw(compare(from + 48), compare(from + 32));
    bits[word] = _mm512_kunpackd(high, low);
  };
  if (words == ~uint64_t{0}) {
    for (uint32_t word = 0; word < kWindowWords; ++word) compare_word(word);
  } else {
    for (; words != 0; words &= words - 1) compare_word(static_cast<uint32_t>(std::countr_zero(words)));
  }
}

__attribute__((target("avx2"))) void CompareWordsAvx2(const float* values, float threshold, uint64_t words,
                                                     uint64_t* bits) {
  const __m256 bound = _mm256_set1_ps(threshold);
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(std::countr_zero(words));
    const float* from = values + word * 64;
    uint64_t found = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      const int mask = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(from + i * 8), bound, _CMP_GE_OQ));
      found |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << (i * 8);
    }
    bits[word] = found;
  }
}

#define GANNET_AVX2 __attribute__((target("avx2,popcnt")))

GANNET_AVX2 inline uint32_t EightReaching(const float* values, __m256 bound) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(values), bound, _CMP_GE_OQ)));
}

// Returns a mask of the eight places whose bit (of place - base) is set. The words are loaded one by one, as for
// sixteen.
GANNET_AVX2 inline uint32_t EightWithBit(const uint32_t* places, uint32_t base, const uint64_t* bits) {
  alignas(32) uint32_t halves[8];
#pragma GCC unroll 8
  for (uint32_t lane = 0; lane < 8; ++lane) {
    halves[lane] = Load<uint32_t>(reinterpret_cast<const uint8_t*>(bits) + 4 * size_t{(places[lane] - base) / 32});
  }
  const __m256i offset = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)),
                                          _mm256_set1_epi32(static_cast<int>(base)));
  // Shifts the bit up to the sign, from which the mask is made.
  const __m256i up = _mm256_andnot_si256(offset, _mm256_set1_epi32(31));
  const __m256i signs = _mm256_sllv_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(halves)), up);
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(signs)));
}

// Calls `eight` for eight elements at a time, with the index of the first, and `one` for each of the rest.
template <typename Eight, typename One>
GANNET_AVX2 __attribute__((always_inline)) inline uint32_t SelectByEight(uint32_t count, uint32_t* places, const Eight& eight,
                                                                         const One& one) {
  uint32_t found = 0;
  uint32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const uint32_t mask = eight(i);
    if (mask != 0) found += WriteSetLanes(i, mask, places + found);
  }
  for (; i < count; ++i) {
    places[found] = i;
    found += static_cast<uint32_t>(one(i));
  }
  return found;
}

GANNET_AVX2 uint32_t SelectAvx2(const float* values, uint32_t count, float least, uint32_t* places) {
  const __m256 bound = _mm256_set1_ps(least);
  return SelectByEight(
      count, places, [&](uint32_t i) GANNET_AVX2 { return EightReaching(values + i, bound); },
      [&](uint32_t i) { return values[i] >= least; });
}

GANNET_AVX2 uint32_t SelectWithBitsAvx2(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits,
                                        float least, float least_with_bit, uint32_t* places) {
  const __m256 bound = _mm256_set1_ps(least);
  const __m256 bound_with_bit = _mm256_set1_ps(least_with_bit);
  return SelectByEight(
      count, places,
      [&](uint32_t i) GANNET_AVX2 {
        const uint32_t may = EightReaching(values + i, bound_with_bit);
        if (may == 0) return 0u;
        const uint32_t alone = EightReaching(values + i, bound);
        return alone | (may & EightWithBit(offsets + i, 0, bits));
      },
      [&](uint32_t i) { return values[i] >= least || (values[i] >= least_with_bit && HasBit(bits, offsets[i])); });
}

GANNET_AVX2 uint32_t SelectMarkedAvx2(const uint32_t* documents, uint32_t count, uint32_t base, const uint64_t* bits,
                                      uint32_t* places) {
  return SelectByEight(
      count, places, [&](uint32_t i) GANNET_AVX2 { return EightWithBit(documents + i, base, bits); },
      [&](uint32_t i) { return HasBit(bits, documents[i] - base); });
}

GANNET_AVX2 uint32_t SelectFrequentAvx2(const float* frequencies, const uint32_t* offsets, uint32_t count, const uint8_t* norms,
                                        const FrequencyBar& bar, const uint64_t* bits, uint32_t* places) {
  const __m256 least = _mm256_set1_ps(bar.least);
  const auto reaches = [&](uint32_t i) { return frequencies[i] >= bar.by_norm[norms[offsets[i]]]; };
  return SelectByEight(
      count, places,
      [&](uint32_t i) GANNET_AVX2 {
        uint32_t mask = EightWithBit(offsets + i, 0, bits);
        for (uint32_t may = EightReaching(frequencies + i, least) & ~mask; may != 0; may &= may - 1) {
          const auto lane = static_cast<uint32_t>(std::countr_zero(may));
          mask |= uint32_t{reaches(i + lane)} << lane;
        }
        return mask;
      },
      [&](uint32_t i) { return HasBit(bits, offsets[i]) || reaches(i); });
}

#undef GANNET_AVX2

// Writes first + i for every bit i of the mask; up to sixteen elements may be written.
__attribute__((target("avx512f,popcnt"))) inline uint32_t WritePlaces(uint32_t first, __mmask16 mask, uint32_t* places) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first)));
  // Compresses into a register and then stores it: the instruction that compresses into memory is slow on some
  // processors.
  _mm512_storeu_si512(places, _mm512_maskz_compress_epi32(mask, numbers));
  return static_cast<uint32_t>(__builtin_popcount(mask));
}

__mmask16 FirstLanes(uint32_t count) { return static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1); }

// Returns a mask of the up to sixteen places whose bit (of place - base) is set. The words are loaded one by one: on
// the measured processors, a gathering load takes half as long again.
__attribute__((target("avx512f"))) inline __mmask16 LanesWithBit(const uint32_t* places, uint32_t count, uint32_t base,
                                                                const uint64_t* bits) {
  alignas(64) uint32_t halves[16];
  const auto load = [&](uint32_t lane) {
    halves[lane] = Load<uint32_t>(reinterpret_cast<const uint8_t*>(bits) + 4 * size_t{(places[lane] - base) / 32});
  };
  const __mmask16 lanes = FirstLanes(count);
  if (count >= 16) {
#pragma GCC unroll 16
    for (uint32_t lane = 0; lane < 16; ++lane) load(lane);
  } else {
    for (uint32_t lane = 0; lane < count; ++lane) load(lane);
  }
  const __m512i offset = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(lanes, places), _mm512_set1_epi32(static_cast<int>(base)));
  const __m512i bit = _mm512_maskz_sllv_epi32(0xffff, _mm512_set1_epi32(1), _mm512_and_epi32(offset, _mm512_set1_epi32(31)));
  return _mm512_mask_test_epi32_mask(lanes, _mm512_maskz_loadu_epi32(lanes, halves), bit);
}

__attribute__((target("avx512f,popcnt"))) uint32_t SelectAvx512(const float* values, uint32_t count, float least,
                                                               uint32_t* places) {
  const __m512 bound = _mm512_set1_ps(least);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = FirstLanes(count - i);
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(lanes, _mm512_maskz_loadu_ps(lanes, values + i), bound, _CMP_GE_OQ);
    if (mask != 0) found += WritePlaces(i, mask, places + found);
  }
  return found;
}

__attribute__((target("avx512f,popcnt"))) uint32_t SelectWithBitsAvx512(const float* values, const uint32_t* offsets,
                                                                       uint32_t count, const uint64_t* bits, float least,
                                                                       float least_with_bit, uint32_t* places) {
  const __m512 bound = _mm512_set1_ps(least);
  const __m512 bound_with_bit = _mm512_set1_ps(least_with_bit);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = FirstLanes(count - i);
    const __m512 value = _mm512_maskz_loadu_ps(lanes, values + i);
    const __mmask16 may = _mm512_mask_cmp_ps_mask(lanes, value, bound_with_bit, _CMP_GE_OQ);
    if (may == 0) continue;
    const __mmask16 alone = _mm512_cmp_ps_mask(value, bound, _CMP_GE_OQ) & lanes;
    const __mmask16 mask = alone | (may & LanesWithBit(offsets + i, count - i, 0, bits));
    if (mask != 0) found += WritePlaces(i, mask, places + found);
  }
  return found;
}

__attribute__((target("avx512f,popcnt"))) uint32_t SelectMarkedAvx512(const uint32_t* documents, uint32_t count,
                                                                     uint32_t base, const uint64_t* bits,
                                                                     uint32_t* places) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 mask = LanesWithBit(documents + i, count - i, base, bits);
    if (mask != 0) found += WritePlaces(i, mask, places + found);
  }
  return found;
}

__attribute__((target("avx512f,popcnt"))) uint32_t SelectFrequentAvx512(const float* frequencies, const uint32_t* offsets,
                                                                       uint32_t count, const uint8_t* norms,
                                                                       const FrequencyBar& bar, const uint64_t* bits,
                                                                       uint32_t* places) {
  const __m512 least = _mm512_set1_ps(bar.least);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = FirstLanes(count - i);
    const __mmask16 with_bit = LanesWithBit(offsets + i, count - i, 0, bits);
    __mmask16 mask = with_bit;
    __mmask16 may = _mm512_mask_cmp_ps_mask(lanes, _mm512_maskz_loadu_ps(lanes, frequencies + i), least, _CMP_GE_OQ) & ~with_bit;
    for (; may != 0; may &= static_cast<__mmask16>(may - 1)) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(may)));
      const bool reaches = frequencies[i + lane] >= bar.by_norm[norms[offsets[i + lane]]];
      mask |= static_cast<__mmask16>(uint32_t{reaches} << lane);
    }
    if (mask != 0) found += WritePlaces(i, mask, places + found);
  }
  return found;
}

#else

uint64_t FlagWord(const uint8_t* flags) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; i += 8) {
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < 8; ++j) bytes |= uint64_t{flags[i + j]} << (j * 8);
    // The multiplication collects the low bits of the eight bytes, first byte lowest, in the top byte.
    word |= ((bytes * 0x0102040810204080u) >> 56) << i;
  }
  return word;
}

uint64_t CompareWordBaseline(const float* values, float threshold) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; ++i) word |= uint64_t{values[i] >= threshold} << i;
  return word;
}

#endif

void CompareWordsBaseline(const float* values, float threshold, uint64_t words, uint64_t* bits) {
  ForEachWord(words, [&](uint32_t word) { bits[word] = CompareWordBaseline(values + word * 64, threshold); });
}

struct SelectionFunctions {
  decltype(&CompareWordsBaseline) compare_words = CompareWordsBaseline;
  decltype(&SelectBaseline) select = SelectBaseline;
  decltype(&SelectWithBitsBaseline) select_with_bits = SelectWithBitsBaseline;
  decltype(&SelectMarkedBaseline) select_marked = SelectMarkedBaseline;
  decltype(&SelectFrequentBaseline) select_frequent = SelectFrequentBaseline;
};

const SelectionFunctions kSelectionFunctions = [] {
  SelectionFunctions functions;
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx2) functions = {CompareWordsAvx2, SelectAvx2, SelectWithBitsAvx2, SelectMarkedAvx2, SelectFrequentAvx2};
  if (sets.avx512f && sets.avx512bw) {
    functions = {CompareWordsAvx512, SelectAvx512, SelectWithBitsAvx512, SelectMarkedAvx512, SelectFrequentAvx512};
  }
#endif
  return functions;
}();

}  // namespace

void CompareWords(const float* values, float threshold, uint64_t words, uint64_t* bits) {
  kSelectionFunctions.compare_words(values, threshold, words, bits);
}

void AddFlagWords(const uint8_t* flags, uint64_t words, uint64_t* bits) {
  ForEachWord(words, [&](uint32_t word) { bits[word] |= FlagWord(flags + word * 64); });
}

uint32_t SelectReaching(const float* values, uint32_t count, float least, uint32_t* places) {
  return kSelectionFunctions.select(values, count, least, places);
}

uint32_t SelectReaching(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits, float least,
                        float least_with_bit, uint32_t* places) {
  return kSelectionFunctions.select_with_bits(values, offsets, count, bits, least, least_with_bit, places);
}

uint32_t SelectMarked(const uint32_t* documents, uint32_t count, uint32_t base, const uint64_t* bits, uint32_t* places) {
  return kSelectionFunctions.select_marked(documents, count, base, bits, places);
}

uint32_t SelectReaching(const float* frequencies, const uint32_t* offsets, uint32_t count, const uint8_t* norms,
                        const FrequencyBar& bar, const uint64_t* bits, uint32_t* places) {
  return kSelectionFunctions.select_frequent(frequencies, offsets, count, norms, bar, bits, places);
}

}  // namespace gannet
