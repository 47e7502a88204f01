#include "document_lookup.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/bits.h"
#include "../common/simd.h"
#include "../format.h"

namespace gannet {
namespace {

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

uint32_t RankWordsBaseline(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < words; ++word) {
    ranks[word] = count;
    count += PopCount(bits[word]);
  }
  return count;
}

void AddBySlotBaseline(const Slots& slots, std::span<const uint32_t> offsets, const float* __restrict values,
                       float* __restrict sums, uint32_t* __restrict slot_offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint32_t slot = FindSlot(slots, offsets[i]);
    sums[slot] += values[i];
    slot_offsets[slot] = offsets[i];
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2,popcnt"))) uint32_t FindInBlockAvx2(const uint32_t* block, const uint32_t* wanted,
                                                                uint32_t count, uint32_t* found, uint32_t* indexes,
                                                                uint32_t* places) {
  // The last document of every sixteen: the number of smaller ones tells which sixteen to search.
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
  // As above, but compares sixteen at once.
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

__attribute__((target("popcnt"))) uint32_t RankWordsPopcnt(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < words; ++word) {
    ranks[word] = count;
    count += static_cast<uint32_t>(__builtin_popcountll(bits[word]));
  }
  return count;
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

#endif

struct Functions {
  decltype(&FindInBlockBaseline) find_in_block = FindInBlockBaseline;
  decltype(&RankWordsBaseline) rank_words = RankWordsBaseline;
  decltype(&AddBySlotBaseline) add_by_slot = AddBySlotBaseline;
};

const Functions kFunctions = [] {
  Functions functions;
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512f) {
    functions = {FindInBlockAvx512, RankWordsPopcnt, AddBySlotPopcnt};
    if (sets.avx512vpopcntdq && sets.avx512vl && sets.avx512dq) functions.rank_words = RankWordsAvx512;
  } else if (sets.avx2) {
    functions = {FindInBlockAvx2, RankWordsPopcnt, AddBySlotPopcnt};
  }
#endif
  return functions;
}();

}  // namespace

uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places) {
  return kFunctions.find_in_block(block, wanted, count, found, indexes, places);
}

uint32_t RankWords(const uint64_t* bits, uint32_t words, uint32_t* ranks) {
  return kFunctions.rank_words(bits, words, ranks);
}

uint32_t FindSlot(const Slots& slots, uint32_t offset) {
  const uint64_t word = slots.bits[offset / 64];
  const uint64_t bit = uint64_t{1} << (offset % 64);
  return (word & bit) != 0 ? slots.ranks[offset / 64] + PopCount(word & (bit - 1)) : slots.count;
}

void AddBySlot(const Slots& slots, std::span<const uint32_t> offsets, const float* values, float* sums,
               uint32_t* slot_offsets) {
  kFunctions.add_by_slot(slots, offsets, values, sums, slot_offsets);
}

}  // namespace gannet
