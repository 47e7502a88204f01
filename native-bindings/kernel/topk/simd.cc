#include "simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/bits.h"
#include "window.h"

namespace gannet {
namespace {

#if !defined(__x86_64__)
uint64_t CompareWordPortable(const float* values, float threshold) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; ++i) word |= uint64_t{values[i] >= threshold} << i;
  return word;
}
#endif

void GatherSaturations(const uint32_t* documents, uint32_t count, const uint8_t* norms, const float* saturation,
                       float* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = saturation[norms[documents[i]]];
}

void AddBySlotBaseline(const Slots& slots, std::span<const uint32_t> offsets, const float* __restrict values,
                       float* __restrict sums, uint32_t* __restrict slot_offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint32_t slot = FindSlot(slots, offsets[i]);
    sums[slot] += values[i];
    slot_offsets[slot] = offsets[i];
  }
}

uint32_t RankWordsBaseline(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < words; ++word) {
    ranks[word] = count;
    count += PopCount(bits[word]);
  }
  return count;
}

void AddContributionsBaseline(const float* __restrict frequencies, const float* __restrict saturations, uint32_t count,
                              float weight, float* __restrict scores) {
  for (uint32_t i = 0; i < count; ++i) scores[i] += Contribution(frequencies[i], saturations[i], weight);
}

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

uint32_t FindInBlockBaseline(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found,
                             uint32_t* indexes, uint32_t* places) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t document = wanted[i];
    uint32_t index = 0;
    for (uint32_t half = kBlockSize / 2; half > 0; half /= 2) {
      index += static_cast<uint32_t>(block[index + half - 1] < document) * half;
    }
    found[kept] = document;
    indexes[kept] = index;
    places[kept] = i;
    kept += block[index] == document;
  }
  return kept;
}

#if defined(__x86_64__)

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

__attribute__((target("avx512f"))) void CompareWordsAvx512(const float* values, float threshold, uint64_t words,
                                                          uint64_t* bits) {
  const __m512 bound = _mm512_set1_ps(threshold);
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(std::countr_zero(words));
    const float* from = values + word * 64;
    uint64_t found = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const __mmask16 mask = _mm512_cmp_ps_mask(_mm512_loadu_ps(from + i * 16), bound, _CMP_GE_OQ);
      found |= uint64_t{mask} << (i * 16);
    }
    bits[word] = found;
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

void CompareWordsBaseline(const float* values, float threshold, uint64_t words, uint64_t* bits) {
  ForEachWord(words, [&](uint32_t word) { bits[word] = CompareWordBaseline(values + word * 64, threshold); });
}

__attribute__((target("avx2,popcnt"))) uint32_t FindInBlockAvx2(const uint32_t* block, const uint32_t* wanted,
                                                                uint32_t count, uint32_t* found, uint32_t* indexes,
                                                                uint32_t* places) {
  // The last of every sixteen: how many are less says which sixteen to look at.
  const __m256i lasts = _mm256_setr_epi32(
      static_cast<int>(block[15]), static_cast<int>(block[31]), static_cast<int>(block[47]), static_cast<int>(block[63]),
      static_cast<int>(block[79]), static_cast<int>(block[95]), static_cast<int>(block[111]), static_cast<int>(block[127]));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t document = wanted[i];
    const __m256i sought = _mm256_set1_epi32(static_cast<int>(document));
    const int less = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(sought, lasts)));
    const uint32_t begin = static_cast<uint32_t>(__builtin_popcount(static_cast<unsigned>(less)) & 7) * 16;
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + begin));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + begin + 8));
    const auto low_equal =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(low, sought))));
    const auto high_equal =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(high, sought))));
    const unsigned equal = low_equal | high_equal << 8;
    found[kept] = document;
    indexes[kept] = begin + static_cast<uint32_t>(__builtin_ctz(equal | 0x10000));
    places[kept] = i;
    kept += equal != 0;
  }
  return kept;
}

__attribute__((target("avx512f,popcnt"))) uint32_t FindInBlockAvx512(const uint32_t* block, const uint32_t* wanted,
                                                                    uint32_t count, uint32_t* found, uint32_t* indexes,
                                                                    uint32_t* places) {
  // As above, but sixteen are compared at once.
  const __m512i lasts = _mm512_setr_epi32(
      static_cast<int>(block[15]), static_cast<int>(block[31]), static_cast<int>(block[47]), static_cast<int>(block[63]),
      static_cast<int>(block[79]), static_cast<int>(block[95]), static_cast<int>(block[111]), -1, -1, -1, -1, -1, -1, -1, -1,
      -1);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t document = wanted[i];
    const __m512i sought = _mm512_set1_epi32(static_cast<int>(document));
    const uint32_t begin = static_cast<uint32_t>(__builtin_popcount(_mm512_cmpgt_epu32_mask(sought, lasts))) * 16;
    const uint32_t equal = _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(block + begin), sought);
    found[kept] = document;
    indexes[kept] = begin + static_cast<uint32_t>(__builtin_ctz(equal | 0x10000));
    places[kept] = i;
    kept += equal != 0;
  }
  return kept;
}

void ContributionsBaseline(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                           const float* saturation, float weight, float* contributions) {
  alignas(64) float saturations[kBlockSize + kVectorPadding];
  GatherSaturations(documents, count, norms, saturation, saturations);
  const __m128 weights = _mm_set1_ps(weight);
  const __m128i positive = _mm_set1_epi32(0x7fffffff);
  for (uint32_t i = 0; i < count; i += 4) {
    const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(frequencies + i));
    const __m128 frequency = _mm_cvtepi32_ps(_mm_and_si128(raw, positive));
    const __m128 quotient =
        _mm_div_ps(_mm_mul_ps(weights, frequency), _mm_add_ps(frequency, _mm_load_ps(saturations + i)));
    _mm_storeu_ps(contributions + i, quotient);
  }
}

__attribute__((target("avx2"))) void ContributionsAvx2(const uint32_t* documents, const uint32_t* frequencies,
                                                       uint32_t count, const uint8_t* norms, const float* saturation,
                                                       float weight, float* contributions) {
  alignas(64) float saturations[kBlockSize + kVectorPadding];
  GatherSaturations(documents, count, norms, saturation, saturations);
  const __m256 weights = _mm256_set1_ps(weight);
  const __m256i positive = _mm256_set1_epi32(0x7fffffff);
  for (uint32_t i = 0; i < count; i += 8) {
    const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(frequencies + i));
    const __m256 frequency = _mm256_cvtepi32_ps(_mm256_and_si256(raw, positive));
    const __m256 quotient =
        _mm256_div_ps(_mm256_mul_ps(weights, frequency), _mm256_add_ps(frequency, _mm256_load_ps(saturations + i)));
    _mm256_storeu_ps(contributions + i, quotient);
  }
}

__attribute__((target("avx512f"))) void ContributionsAvx512(const uint32_t* documents, const uint32_t* frequencies,
                                                            uint32_t count, const uint8_t* norms,
                                                            const float* saturation, float weight,
                                                            float* contributions) {
  // Vector types of the compiler: several intrinsics of this width make g++ 12 warn about its own header.
  typedef int32_t Integers __attribute__((vector_size(64)));
  typedef float Floats __attribute__((vector_size(64)));
  alignas(64) float saturations[kBlockSize + kVectorPadding];
  GatherSaturations(documents, count, norms, saturation, saturations);
  for (uint32_t i = 0; i < count; i += 16) {
    Integers raw;
    Floats added;
    std::memcpy(&raw, frequencies + i, sizeof(raw));
    std::memcpy(&added, saturations + i, sizeof(added));
    const Floats frequency = __builtin_convertvector(raw & 0x7fffffff, Floats);
    const Floats quotient = (weight * frequency) / (frequency + added);
    std::memcpy(contributions + i, &quotient, sizeof(quotient));
  }
}

__attribute__((target("popcnt"))) void AddBySlotPopcnt(const Slots& slots, std::span<const uint32_t> offsets,
                                                      const float* __restrict values, float* __restrict sums,
                                                      uint32_t* __restrict slot_offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint32_t offset = offsets[i];
    const uint64_t word = slots.bits[offset / 64];
    const uint64_t bit = uint64_t{1} << (offset % 64);
    const uint32_t ranked = slots.ranks[offset / 64] + static_cast<uint32_t>(__builtin_popcountll(word & (bit - 1)));
    const uint32_t slot = (word & bit) != 0 ? ranked : slots.count;
    sums[slot] += values[i];
    slot_offsets[slot] = offset;
  }
}

// Writes the numbers from `first` on whose bits the mask has; sixteen elements may be written.
__attribute__((target("avx512f,popcnt"))) inline uint32_t WritePlaces(uint32_t first, __mmask16 mask, uint32_t* places) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first)));
  // To a register and on to memory: the instruction that compresses into memory is slow on some processors.
  _mm512_storeu_si512(places, _mm512_maskz_compress_epi32(mask, numbers));
  return static_cast<uint32_t>(__builtin_popcount(mask));
}

__mmask16 FirstLanes(uint32_t count) { return static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1); }

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
  const __m512i low_bits = _mm512_set1_epi32(31);
  const __m512i one = _mm512_set1_epi32(1);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = FirstLanes(count - i);
    const __m512 value = _mm512_maskz_loadu_ps(lanes, values + i);
    const __mmask16 may = _mm512_mask_cmp_ps_mask(lanes, value, bound_with_bit, _CMP_GE_OQ);
    if (may == 0) continue;
    const __mmask16 alone = _mm512_cmp_ps_mask(value, bound, _CMP_GE_OQ) & lanes;
    const __m512i offset = _mm512_maskz_loadu_epi32(lanes, offsets + i);
    const __m512i halves = _mm512_maskz_srli_epi32(0xffff, offset, 5);
    const __m512i half = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), may, halves, bits, 4);
    const __m512i bit = _mm512_maskz_sllv_epi32(0xffff, one, _mm512_and_epi32(offset, low_bits));
    const __mmask16 mask = alone | _mm512_mask_test_epi32_mask(may, half, bit);
    if (mask != 0) found += WritePlaces(i, mask, places + found);
  }
  return found;
}

__attribute__((target("avx512f,avx512vl,avx512dq,avx512vpopcntdq,popcnt"))) uint32_t RankWordsAvx512(
    const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  constexpr uint32_t kAtOnce = 8;
  const __m256i lane0 = _mm256_setzero_si256();
  uint32_t count = 0;
  uint32_t word = 0;
  for (; word + kAtOnce <= words; word += kAtOnce) {
    const __m256i own = _mm512_maskz_cvtepi64_epi32(0xff, _mm512_popcnt_epi64(_mm512_loadu_si512(bits + word)));
    // Sums of one, two, four and eight neighbours.
    __m256i sums = _mm256_add_epi32(own, _mm256_alignr_epi32(own, lane0, 7));
    sums = _mm256_add_epi32(sums, _mm256_alignr_epi32(sums, lane0, 6));
    sums = _mm256_add_epi32(sums, _mm256_alignr_epi32(sums, lane0, 4));
    const __m256i before = _mm256_add_epi32(_mm256_sub_epi32(sums, own), _mm256_set1_epi32(static_cast<int>(count)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(ranks + word), before);
    count += static_cast<uint32_t>(_mm256_extract_epi32(sums, 7));
  }
  for (; word < words; ++word) {
    ranks[word] = count;
    count += static_cast<uint32_t>(__builtin_popcountll(bits[word]));
  }
  return count;
}

__attribute__((target("popcnt"))) uint32_t RankWordsPopcnt(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < words; ++word) {
    ranks[word] = count;
    count += static_cast<uint32_t>(__builtin_popcountll(bits[word]));
  }
  return count;
}

// With vectors of this type, in the instructions of the function that it is inlined into.
template <typename Floats>
__attribute__((always_inline)) inline void AddContributionsBy(const float* frequencies, const float* saturations,
                                                              uint32_t count, float weight, float* scores) {
  constexpr uint32_t kLanes = sizeof(Floats) / sizeof(float);
  uint32_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Floats frequency;
    Floats saturation;
    Floats score;
    std::memcpy(&frequency, frequencies + i, sizeof(Floats));
    std::memcpy(&saturation, saturations + i, sizeof(Floats));
    std::memcpy(&score, scores + i, sizeof(Floats));
    score += (weight * frequency) / (frequency + saturation);
    std::memcpy(scores + i, &score, sizeof(Floats));
  }
  for (; i < count; ++i) scores[i] += Contribution(frequencies[i], saturations[i], weight);
}

__attribute__((target("avx2"))) void AddContributionsAvx2(const float* frequencies, const float* saturations,
                                                          uint32_t count, float weight, float* scores) {
  typedef float Floats __attribute__((vector_size(32)));
  AddContributionsBy<Floats>(frequencies, saturations, count, weight, scores);
}

__attribute__((target("avx512f"))) void AddContributionsAvx512(const float* frequencies, const float* saturations,
                                                               uint32_t count, float weight, float* scores) {
  typedef float Floats __attribute__((vector_size(64)));
  AddContributionsBy<Floats>(frequencies, saturations, count, weight, scores);
}

using RankWordsFunction = decltype(&RankWordsBaseline);
using AddContributionsFunction = decltype(&AddContributionsBaseline);
using AddBySlotFunction = decltype(&AddBySlotBaseline);
using FindInBlockFunction = decltype(&FindInBlockBaseline);
using CompareWordsFunction = decltype(&CompareWordsBaseline);
using ContributionsFunction = decltype(&ContributionsBaseline);
using SelectFunction = decltype(&SelectBaseline);
using SelectWithBitsFunction = decltype(&SelectWithBitsBaseline);

struct Functions {
  CompareWordsFunction compare_words = CompareWordsBaseline;
  ContributionsFunction contributions = ContributionsBaseline;
  FindInBlockFunction find_in_block = FindInBlockBaseline;
  AddBySlotFunction add_by_slot = AddBySlotBaseline;
  RankWordsFunction rank_words = RankWordsBaseline;
  AddContributionsFunction add_contributions = AddContributionsBaseline;
  SelectFunction select = SelectBaseline;
  SelectWithBitsFunction select_with_bits = SelectWithBitsBaseline;
};

const Functions kFunctions = [] {
  Functions functions;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    functions = {CompareWordsAvx512, ContributionsAvx512, FindInBlockAvx512,
                 AddBySlotPopcnt,    RankWordsPopcnt,     AddContributionsAvx512,
                 SelectAvx512,       SelectWithBitsAvx512};
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
      functions.rank_words = RankWordsAvx512;
    }
  } else if (__builtin_cpu_supports("avx2")) {
    functions = {CompareWordsAvx2, ContributionsAvx2, FindInBlockAvx2,
                 AddBySlotPopcnt,  RankWordsPopcnt,   AddContributionsAvx2,
                 SelectBaseline,   SelectWithBitsBaseline};
  }
  return functions;
}();

#endif  // __x86_64__

}  // namespace

#if defined(__x86_64__)

void CompareWords(const float* values, float threshold, uint64_t words, uint64_t* bits) {
  kFunctions.compare_words(values, threshold, words, bits);
}

void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions) {
  kFunctions.contributions(documents, frequencies, count, norms, saturation, weight, contributions);
}

uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places) {
  return kFunctions.find_in_block(block, wanted, count, found, indexes, places);
}

void AddBySlot(const Slots& slots, std::span<const uint32_t> offsets, const float* values, float* sums,
               uint32_t* slot_offsets) {
  kFunctions.add_by_slot(slots, offsets, values, sums, slot_offsets);
}

uint32_t RankWords(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  return kFunctions.rank_words(bits, words, ranks);
}

uint32_t SelectReaching(const float* values, uint32_t count, float least, uint32_t* places) {
  return kFunctions.select(values, count, least, places);
}

uint32_t SelectReaching(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits, float least,
                        float least_with_bit, uint32_t* places) {
  return kFunctions.select_with_bits(values, offsets, count, bits, least, least_with_bit, places);
}

void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores) {
  kFunctions.add_contributions(frequencies, saturations, count, weight, scores);
}

#else

void AddBySlot(const Slots& slots, std::span<const uint32_t> offsets, const float* values, float* sums,
               uint32_t* slot_offsets) {
  AddBySlotBaseline(slots, offsets, values, sums, slot_offsets);
}

uint32_t RankWords(const uint64_t* bits, uint32_t words, uint32_t* ranks) { return RankWordsBaseline(bits, words, ranks); }

uint32_t SelectReaching(const float* values, uint32_t count, float least, uint32_t* places) {
  return SelectBaseline(values, count, least, places);
}

uint32_t SelectReaching(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits, float least,
                        float least_with_bit, uint32_t* places) {
  return SelectWithBitsBaseline(values, offsets, count, bits, least, least_with_bit, places);
}

void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores) {
  AddContributionsBaseline(frequencies, saturations, count, weight, scores);
}

uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places) {
  return FindInBlockBaseline(block, wanted, count, found, indexes, places);
}

void CompareWords(const float* values, float threshold, uint64_t words, uint64_t* bits) {
  ForEachWord(words, [&](uint32_t word) { bits[word] = CompareWordPortable(values + word * 64, threshold); });
}

void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions) {
  alignas(64) float saturations[kBlockSize + kVectorPadding];
  GatherSaturations(documents, count, norms, saturation, saturations);
  for (uint32_t i = 0; i < count; ++i) {
    contributions[i] = Contribution(FrequencyToFloat(frequencies[i]), saturations[i], weight);
  }
}

#endif

uint32_t FindSlot(const Slots& slots, uint32_t offset) {
  const uint64_t word = slots.bits[offset / 64];
  const uint64_t bit = uint64_t{1} << (offset % 64);
  return (word & bit) != 0 ? slots.ranks[offset / 64] + PopCount(word & (bit - 1)) : slots.count;
}

uint64_t FlagWord(const uint8_t* flags) {
#if defined(__x86_64__)
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + i));
    const int mask = _mm_movemask_epi8(_mm_slli_epi16(bytes, 7));  // Bit 0 of every byte becomes its sign.
    word |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << i;
  }
  return word;
#else
  uint64_t word = 0;
  for (uint32_t i = 0; i < 64; i += 8) {
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < 8; ++j) bytes |= uint64_t{flags[i + j]} << (j * 8);
    // The multiplication collects the low bits of the eight bytes, first byte lowest, in the top byte.
    word |= ((bytes * 0x0102040810204080u) >> 56) << i;
  }
  return word;
#endif
}

void AddFlagWords(const uint8_t* flags, uint64_t words, uint64_t* bits) {
  ForEachWord(words, [&](uint32_t word) { bits[word] |= FlagWord(flags + word * 64); });
}

}  // namespace gannet
