#include "contributions.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/lanes.h"
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

uint32_t AddBitsetContributionsBaseline(std::span<const uint8_t> bits, const uint32_t* frequencies, const uint8_t* norms,
                                        const float* saturation, float weight, float* scores) {
  uint32_t count = 0;
  for (uint32_t first = 0; first < 8 * bits.size(); first += 64) {
    for (uint64_t word = Load<uint64_t>(bits.data() + first / 8); word != 0; word &= word - 1) {
      const uint32_t place = first + static_cast<uint32_t>(std::countr_zero(word));
      const float frequency = FrequencyToFloat(frequencies[std::min(count++, kBlockSize - 1)]);
      scores[place] += Contribution(frequency, saturation[norms[place]], weight);
    }
  }
  return count;
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

// Lists the documents side by side and computes their contributions as for other blocks. Walking over the bits one by
// one would wait for each bit and mispredict the end of each word.
__attribute__((target("avx2,popcnt"))) uint32_t AddBitsetContributionsAvx2(std::span<const uint8_t> bits,
                                                                          const uint32_t* frequencies, const uint8_t* norms,
                                                                          const float* saturation, float weight,
                                                                          float* scores) {
  const uint32_t count = CountBits(bits.data(), bits.size() / 8);
  // Only a damaged block has more.
  if (count > kBlockSize) return AddBitsetContributionsBaseline(bits, frequencies, norms, saturation, weight, scores);
  alignas(32) uint32_t places[kBlockSize + kVectorPadding];
  uint32_t found = 0;
  for (uint32_t byte = 0; byte < bits.size(); ++byte) found += WriteSetLanes(8 * byte, bits[byte], places + found);
  alignas(32) float contributions[kBlockSize + kVectorPadding];
  ContributionsAvx2(places, frequencies, count, norms, saturation, weight, contributions);
  for (uint32_t i = 0; i < count; ++i) scores[places[i]] += contributions[i];
  return count;
}

// Vector types of the compiler are used because several intrinsics of this width make g++ 12 warn about its own header.
typedef int32_t Integers16 __attribute__((vector_size(64)));
typedef float Floats16 __attribute__((vector_size(64)));

// Saturations by norm code. The codes of nearly all documents, which have at most some hundred words, are in registers;
// looking up sixteen there takes as long as loading two from memory.
class SaturationTable {
 public:
  __attribute__((target("avx512f"))) explicit SaturationTable(const float* saturation)
      : saturation_(saturation),
        parts_{_mm512_loadu_ps(saturation), _mm512_loadu_ps(saturation + 16), _mm512_loadu_ps(saturation + 32),
               _mm512_loadu_ps(saturation + 48)} {}

  __attribute__((target("avx512f"))) Floats16 Find(const uint8_t* codes) const {
    const __m512i wide = _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    if (_mm512_cmpge_epu32_mask(wide, _mm512_set1_epi32(kCodes)) != 0) {
      Floats16 found{};
      for (int i = 0; i < 16; ++i) found[i] = saturation_[codes[i]];
      return found;
    }
    const auto upper = _mm512_test_epi32_mask(wide, _mm512_set1_epi32(32));
    const __m512 low = _mm512_permutex2var_ps(parts_[0], wide, parts_[1]);
    return reinterpret_cast<Floats16>(_mm512_mask_blend_ps(upper, low, _mm512_permutex2var_ps(parts_[2], wide, parts_[3])));
  }

 private:
  static constexpr int kCodes = 64;

  const float* saturation_;
  __m512 parts_[kCodes / 16];
};

__attribute__((target("avx512f"))) inline Floats16 Quotients(Integers16 raw_frequencies, Floats16 saturations, float weight) {
  const Floats16 frequency = __builtin_convertvector(raw_frequencies & 0x7fffffff, Floats16);
  return (weight * frequency) / (frequency + saturations);
}

__attribute__((target("avx512f"))) void ContributionsAvx512(const uint32_t* documents, const uint32_t* frequencies,
                                                            uint32_t count, const uint8_t* norms,
                                                            const float* saturation, float weight,
                                                            float* contributions) {
  alignas(64) uint8_t codes[kBlockSize + kVectorPadding];
  uint32_t gathered = 0;
  for (; gathered + 8 <= count; gathered += 8) {
    for (uint32_t i = 0; i < 8; ++i) codes[gathered + i] = norms[documents[gathered + i]];
  }
  for (; gathered < count; ++gathered) codes[gathered] = norms[documents[gathered]];
  std::memset(codes + count, 0, kVectorPadding);
  const SaturationTable table(saturation);
  for (uint32_t i = 0; i < count; i += 16) {
    Integers16 raw;
    std::memcpy(&raw, frequencies + i, sizeof(raw));
    const Floats16 quotients = Quotients(raw, table.Find(codes + i), weight);
    std::memcpy(contributions + i, &quotients, sizeof(quotients));
  }
}

// Processes sixteen documents at a time, whether or not they are in the list: a missing one has a frequency of 0, which
// adds 0.
__attribute__((target("avx512f,popcnt"))) uint32_t AddBitsetContributionsAvx512(std::span<const uint8_t> bits,
                                                                               const uint32_t* frequencies,
                                                                               const uint8_t* norms,
                                                                               const float* saturation, float weight,
                                                                               float* scores) {
  const SaturationTable table(saturation);
  uint32_t count = 0;
  for (uint32_t first = 0; first < 8 * bits.size(); first += 16) {
    const auto there = Load<uint16_t>(bits.data() + first / 8);
    const __m512i next = _mm512_loadu_si512(frequencies + std::min(count, kBlockSize));
    // Zeros that the compiler cannot fold away: the zeroing form of the instruction waits for the previous content of
    // its register (docs/decisions/0044).
    __m512i none = _mm512_setzero_si512();
    asm("" : "+v"(none));
    const auto raw = reinterpret_cast<Integers16>(_mm512_mask_expand_epi32(none, there, next));
    Floats16 score;
    std::memcpy(&score, scores + first, sizeof(score));
    score += Quotients(raw, table.Find(norms + first), weight);
    std::memcpy(scores + first, &score, sizeof(score));
    count += static_cast<uint32_t>(__builtin_popcount(there));
  }
  return count;
}

// Uses vectors of this type, with the instructions of the function into which it is inlined.
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
  decltype(&AddBitsetContributionsBaseline) add_bitset_contributions = AddBitsetContributionsBaseline;
};

const Functions kFunctions = [] {
  Functions functions;
#if defined(__x86_64__)
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.avx512f) {
    functions = {ContributionsAvx512, AddContributionsAvx512, AddBitsetContributionsAvx512};
  } else if (sets.avx2) {
    functions = {ContributionsAvx2, AddContributionsAvx2, AddBitsetContributionsAvx2};
  }
#endif
  return functions;
}();

}  // namespace

void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions) {
  kFunctions.contributions(documents, frequencies, count, norms, saturation, weight, contributions);
}

uint32_t AddBitsetContributions(std::span<const uint8_t> bits, const uint32_t* frequencies, const uint8_t* norms,
                                const float* saturation, float weight, float* scores) {
  return kFunctions.add_bitset_contributions(bits, frequencies, norms, saturation, weight, scores);
}

void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores) {
  kFunctions.add_contributions(frequencies, saturations, count, weight, scores);
}

}  // namespace gannet
