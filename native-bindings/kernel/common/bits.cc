#include "bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "lanes.h"
#include "simd.h"

namespace gannet {
namespace {

uint64_t LoadAt(const void* words, size_t index) {
  uint64_t word;
  std::memcpy(&word, static_cast<const uint8_t*>(words) + 8 * index, 8);
  return word;
}

uint32_t CountBaseline(const void* words, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += PopCount(LoadAt(words, i));
  return sum;
}

uint32_t CountUsedBaseline(const uint64_t* words, uint64_t used) {
  uint32_t sum = 0;
  for (; used != 0; used &= used - 1) sum += PopCount(words[std::countr_zero(used)]);
  return sum;
}

#if defined(__x86_64__)

__attribute__((target("popcnt"))) uint32_t CountPopcnt(const void* words, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(__builtin_popcountll(LoadAt(words, i)));
  return static_cast<uint32_t>(sum);
}

__attribute__((target("popcnt"))) uint32_t CountUsedPopcnt(const uint64_t* words, uint64_t used) {
  uint64_t sum = 0;
  for (; used != 0; used &= used - 1) {
    sum += static_cast<uint64_t>(__builtin_popcountll(words[__builtin_ctzll(used)]));
  }
  return static_cast<uint32_t>(sum);
}

// With many words, one instruction per word takes half as long again.
__attribute__((target("avx2,popcnt"))) uint32_t CountAvx2(const void* words, size_t count) {
  constexpr size_t kAtOnce = 4;
  constexpr size_t kBeforeOverflow = 31;  // of bytes that rise by at most eight
  constexpr size_t kPaysFrom = 16;
  if (count < kPaysFrom) return CountPopcnt(words, count);
  const auto* next = static_cast<const uint8_t*>(words);
  __m256i sums = _mm256_setzero_si256();
  for (size_t left = count / kAtOnce; left > 0;) {
    const size_t some = std::min(left, kBeforeOverflow);
    __m256i bytes = _mm256_setzero_si256();
    for (const uint8_t* const end = next + sizeof(__m256i) * some; next != end; next += sizeof(__m256i)) {
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(next));
      bytes = _mm256_add_epi8(bytes, BitsByByte(value));
    }
    sums = _mm256_add_epi64(sums, SumByWord(bytes));
    left -= some;
  }
  alignas(32) uint64_t lanes[kAtOnce];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums);
  const uint64_t sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
  return static_cast<uint32_t>(sum) + CountPopcnt(next, count % kAtOnce);
}

__attribute__((target("avx512f,avx512vpopcntdq,popcnt"))) uint32_t CountAvx512(const void* words, size_t count) {
  // Vector types of the compiler are used because several intrinsics of this width make g++ 12 warn about its own
  // header.
  typedef long long Words __attribute__((vector_size(64)));
  constexpr size_t kAtOnce = 8;
  Words sums{};
  size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    Words some;
    std::memcpy(&some, static_cast<const uint8_t*>(words) + 8 * i, sizeof(some));
    sums += reinterpret_cast<Words>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(some)));
  }
  uint64_t sum = 0;
  for (size_t lane = 0; lane < kAtOnce; ++lane) sum += static_cast<uint64_t>(sums[lane]);
  return static_cast<uint32_t>(sum) + CountPopcnt(static_cast<const uint8_t*>(words) + 8 * i, count - i);
}

using CountFunction = decltype(&CountBaseline);
using CountUsedFunction = decltype(&CountUsedBaseline);

struct Functions {
  CountFunction count = CountBaseline;
  CountUsedFunction count_used = CountUsedBaseline;
};

const Functions kFunctions = [] {
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512vpopcntdq) return Functions{CountAvx512, CountUsedPopcnt};
  if (sets.avx2) return Functions{CountAvx2, CountUsedPopcnt};
  if (sets.popcnt) return Functions{CountPopcnt, CountUsedPopcnt};
  return Functions{};
}();

#endif

}  // namespace

#if defined(__x86_64__)

uint32_t CountBits(const void* words, size_t count) { return kFunctions.count(words, count); }

uint32_t CountUsedBits(const uint64_t* words, uint64_t used) { return kFunctions.count_used(words, used); }

#else

uint32_t CountBits(const void* words, size_t count) { return CountBaseline(words, count); }

uint32_t CountUsedBits(const uint64_t* words, uint64_t used) { return CountUsedBaseline(words, used); }

#endif

}  // namespace gannet
