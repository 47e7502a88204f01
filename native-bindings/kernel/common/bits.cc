#include "bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

__attribute__((target("avx512f,avx512vpopcntdq,popcnt"))) uint32_t CountAvx512(const void* words, size_t count) {
  // Vector types of the compiler: several intrinsics of this width make g++ 12 warn about its own header.
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
