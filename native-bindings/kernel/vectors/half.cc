#include "half.h"

#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/simd.h"

namespace gannet::vectors {
namespace {

constexpr size_t kHalfLanes = 16;

using HalfProductOf = float (*)(const Half* halves, const float* floats, size_t size);

float SumOfHalves(float* sums) {
  for (size_t half = kHalfLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

float HalfProductBaseline(const Half* halves, const float* floats, size_t size) {
  float sums[kHalfLanes] = {};
  size_t at = 0;
  for (; at + kHalfLanes <= size; at += kHalfLanes) {
    for (size_t lane = 0; lane < kHalfLanes; ++lane) sums[lane] += FromHalf(halves[at + lane]) * floats[at + lane];
  }
  for (size_t lane = 0; at < size; ++at, ++lane) sums[lane] += FromHalf(halves[at]) * floats[at];
  return SumOfHalves(sums);
}

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) float HalfProductAvx2(const Half* halves, const float* floats, size_t size) {
  __m256 low = _mm256_setzero_ps();
  __m256 high = _mm256_setzero_ps();
  size_t at = 0;
  for (; at + kHalfLanes <= size; at += kHalfLanes) {
    const __m256 first = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + at)));
    const __m256 second = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + at + 8)));
    low = _mm256_add_ps(low, _mm256_mul_ps(first, _mm256_loadu_ps(floats + at)));
    high = _mm256_add_ps(high, _mm256_mul_ps(second, _mm256_loadu_ps(floats + at + 8)));
  }
  alignas(32) float sums[kHalfLanes];
  _mm256_store_ps(sums, low);
  _mm256_store_ps(sums + 8, high);
  for (size_t lane = 0; at < size; ++at, ++lane) sums[lane] += FromHalf(halves[at]) * floats[at];
  return SumOfHalves(sums);
}
#endif

HalfProductOf ChooseHalfProduct() {
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx2 && sets.f16c) return HalfProductAvx2;
#endif
  return HalfProductBaseline;
}

const HalfProductOf kHalfProduct = ChooseHalfProduct();

}  // namespace

Half ToHalf(float value) {
  constexpr uint32_t kExponentMax = 0x7f800000u;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<Half>(bits >> 16 & 0x8000u);
  uint32_t size = bits & 0x7fffffffu;
  if (size > kExponentMax) return static_cast<Half>(sign | 0x7e00u);
  if (size >= 0x477ff000u) return static_cast<Half>(sign | 0x7c00u);  // rounds to 65,536 or more
  if (size < 0x38800000u) {
    // Below the least normal half: adding 0.5 makes the float's own rounding leave what fits into a half.
    const float shifted = std::bit_cast<float>(size) + 0.5f;
    return static_cast<Half>(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  size += 0xfffu + (size >> 13 & 1);
  return static_cast<Half>(sign | (size - 0x38000000u) >> 13);
}

float FromHalf(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000u) << 16;
  const uint32_t size = value & 0x7fffu;
  if (size >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  if (size < 0x400u) {
    const float small = static_cast<float>(size) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(small));
  }
  return std::bit_cast<float>(sign | ((size << 13) + 0x38000000u));
}

void ToHalves(std::span<const float> values, Half* halves) {
  for (const float value : values) *halves++ = ToHalf(value);
}

void FromHalves(std::span<const Half> halves, float* values) {
  for (const Half half : halves) *values++ = FromHalf(half);
}

float Product(std::span<const Half> halves, std::span<const float> floats) {
  return kHalfProduct(halves.data(), floats.data(), halves.size());
}

}  // namespace gannet::vectors
