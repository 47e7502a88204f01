#include "range_words.h"

#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/simd.h"

namespace gannet {
namespace {

// A value below the first wraps around to a large number, so one comparison is enough.
template <typename Raw>
void TestPortable(const Raw* values, Raw first, Raw width, uint64_t words, uint64_t* bits) {
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(std::countr_zero(words));
    const Raw* from = values + size_t{64} * word;
    uint64_t found = 0;
    for (uint32_t i = 0; i < 64; ++i) found |= uint64_t{static_cast<Raw>(from[i] - first) <= width} << i;
    bits[word] = found;
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) uint64_t WordAvx2(const uint8_t* from, uint8_t first, uint8_t width) {
  const __m256i base = _mm256_set1_epi8(static_cast<char>(first));
  const __m256i most = _mm256_set1_epi8(static_cast<char>(width));
  uint64_t found = 0;
  for (uint32_t i = 0; i < 64; i += 32) {
    const __m256i above = _mm256_sub_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)), base);
    const int mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above));
    found |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << i;
  }
  return found;
}

__attribute__((target("avx2"))) uint64_t WordAvx2(const uint16_t* from, uint16_t first, uint16_t width) {
  const __m256i base = _mm256_set1_epi16(static_cast<short>(first));
  const __m256i most = _mm256_set1_epi16(static_cast<short>(width));
  uint64_t found = 0;
  for (uint32_t i = 0; i < 64; i += 32) {
    const __m256i low = _mm256_sub_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)), base);
    const __m256i high = _mm256_sub_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 16)), base);
    const __m256i packed = _mm256_packs_epi16(_mm256_cmpeq_epi16(_mm256_min_epu16(low, most), low),
                                              _mm256_cmpeq_epi16(_mm256_min_epu16(high, most), high));
    // Packing interleaves the halves.
    const int mask = _mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8));
    found |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << i;
  }
  return found;
}

__attribute__((target("avx2"))) uint64_t WordAvx2(const uint32_t* from, uint32_t first, uint32_t width) {
  const __m256i base = _mm256_set1_epi32(static_cast<int>(first));
  const __m256i most = _mm256_set1_epi32(static_cast<int>(width));
  uint64_t found = 0;
  for (uint32_t i = 0; i < 64; i += 8) {
    const __m256i above = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)), base);
    const __m256i within = _mm256_cmpeq_epi32(_mm256_min_epu32(above, most), above);
    found |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(within)))) << i;
  }
  return found;
}

__attribute__((target("avx512f,avx512bw"))) uint64_t WordAvx512(const uint8_t* from, uint8_t first, uint8_t width) {
  const __m512i above = _mm512_sub_epi8(_mm512_loadu_si512(from), _mm512_set1_epi8(static_cast<char>(first)));
  return _mm512_cmple_epu8_mask(above, _mm512_set1_epi8(static_cast<char>(width)));
}

__attribute__((target("avx512f,avx512bw"))) uint64_t WordAvx512(const uint16_t* from, uint16_t first, uint16_t width) {
  const __m512i base = _mm512_set1_epi16(static_cast<short>(first));
  const __m512i most = _mm512_set1_epi16(static_cast<short>(width));
  const uint64_t low = _mm512_cmple_epu16_mask(_mm512_sub_epi16(_mm512_loadu_si512(from), base), most);
  const uint64_t high = _mm512_cmple_epu16_mask(_mm512_sub_epi16(_mm512_loadu_si512(from + 32), base), most);
  return low | high << 32;
}

__attribute__((target("avx512f,avx512bw"))) uint64_t WordAvx512(const uint32_t* from, uint32_t first, uint32_t width) {
  const __m512i base = _mm512_set1_epi32(static_cast<int>(first));
  const __m512i most = _mm512_set1_epi32(static_cast<int>(width));
  uint64_t found = 0;
  for (uint32_t i = 0; i < 64; i += 16) {
    const __m512i above = _mm512_sub_epi32(_mm512_loadu_si512(from + i), base);
    found |= uint64_t{_mm512_cmple_epu32_mask(above, most)} << i;
  }
  return found;
}

template <typename Raw>
__attribute__((target("avx2"))) void TestAvx2(const Raw* values, Raw first, Raw width, uint64_t words, uint64_t* bits) {
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(__builtin_ctzll(words));
    bits[word] = WordAvx2(values + size_t{64} * word, first, width);
  }
}

template <typename Raw>
__attribute__((target("avx512f,avx512bw"))) void TestAvx512(const Raw* values, Raw first, Raw width, uint64_t words,
                                                            uint64_t* bits) {
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<uint32_t>(__builtin_ctzll(words));
    bits[word] = WordAvx512(values + size_t{64} * word, first, width);
  }
}

template <typename Raw>
using TestFunction = decltype(&TestPortable<Raw>);

template <typename Raw>
TestFunction<Raw> ChooseTest() {
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512bw) return TestAvx512<Raw>;
  if (sets.avx2) return TestAvx2<Raw>;
  return TestPortable<Raw>;
}

const TestFunction<uint8_t> kTest8 = ChooseTest<uint8_t>();
const TestFunction<uint16_t> kTest16 = ChooseTest<uint16_t>();
const TestFunction<uint32_t> kTest32 = ChooseTest<uint32_t>();

#else

const auto kTest8 = TestPortable<uint8_t>;
const auto kTest16 = TestPortable<uint16_t>;
const auto kTest32 = TestPortable<uint32_t>;

#endif

}  // namespace

void TestRangeWords(const uint8_t* values, uint8_t first, uint8_t width, uint64_t words, uint64_t* bits) {
  kTest8(values, first, width, words, bits);
}

void TestRangeWords(const uint16_t* values, uint16_t first, uint16_t width, uint64_t words, uint64_t* bits) {
  kTest16(values, first, width, words, bits);
}

void TestRangeWords(const uint32_t* values, uint32_t first, uint32_t width, uint64_t words, uint64_t* bits) {
  kTest32(values, first, width, words, bits);
}

}  // namespace gannet
