#include "contributions.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>

#include "../common/simd.h"
#include "../format.h"

namespace gannet {
namespace {

void GatherSaturations(const uint32_t* documents, uint32_t count, const uint8_t* norms, const float* saturation,
                       float* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = saturation[norms[documents[i]]];
}

void AddContributionsBaseline(const float* __restrict frequencies, const float* __restrict saturations, uint32_t count,
                              float weight, float* __restrict scores) {
  for (uint32_t i = 0; i < count; ++i) scores[i] += Contribution(frequencies[i], saturations[i], weight);
}

#if defined(__x86_64__)

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

#else

void ContributionsBaseline(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                           const float* saturation, float weight, float* contributions) {
  alignas(64) float saturations[kBlockSize + kVectorPadding];
  GatherSaturations(documents, count, norms, saturation, saturations);
  for (uint32_t i = 0; i < count; ++i) {
    contributions[i] = Contribution(FrequencyToFloat(frequencies[i]), saturations[i], weight);
  }
}

#endif

struct Functions {
  decltype(&ContributionsBaseline) contributions = ContributionsBaseline;
  decltype(&AddContributionsBaseline) add_contributions = AddContributionsBaseline;
};

const Functions kFunctions = [] {
  Functions functions;
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512f) {
    functions = {ContributionsAvx512, AddContributionsAvx512};
  } else if (sets.avx2) {
    functions = {ContributionsAvx2, AddContributionsAvx2};
  }
#endif
  return functions;
}();

}  // namespace

void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions) {
  kFunctions.contributions(documents, frequencies, count, norms, saturation, weight, contributions);
}

void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores) {
  kFunctions.add_contributions(frequencies, saturations, count, weight, scores);
}

}  // namespace gannet
