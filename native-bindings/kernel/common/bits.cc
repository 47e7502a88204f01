#include "bits.h"

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

const bool kHasPopcnt = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("popcnt") != 0;
}();

#endif

}  // namespace

#if defined(__x86_64__)

uint32_t CountBits(const void* words, size_t count) {
  return kHasPopcnt ? CountPopcnt(words, count) : CountBaseline(words, count);
}

uint32_t CountUsedBits(const uint64_t* words, uint64_t used) {
  return kHasPopcnt ? CountUsedPopcnt(words, used) : CountUsedBaseline(words, used);
}

#else

uint32_t CountBits(const void* words, size_t count) { return CountBaseline(words, count); }

uint32_t CountUsedBits(const uint64_t* words, uint64_t used) { return CountUsedBaseline(words, used); }

#endif

}  // namespace gannet
