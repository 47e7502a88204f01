// What a posting adds to the score of its document: BM25, in the widest vectors that the processor has (common/simd.h).
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace gannet {

// Contributions are never less than this: what matches scores at least so much.
inline constexpr float kLeastPositive = std::numeric_limits<float>::min();

// BM25 of `count` <= kBlockSize postings: weight * f / (f + saturation[norms[document]]).
// kVectorPadding more frequencies must be readable, and contributions writable.
void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions);

// The same of postings whose documents are bits (whole words, in order), added to the scores of these. `norms` and `scores` are
// those of the first bit, and reach as far as the bits do. Takes no more frequencies than kBlockSize, and returns how many bits
// there are.
uint32_t AddBitsetContributions(std::span<const uint8_t> bits, const uint32_t* frequencies, const uint8_t* norms,
                                const float* saturation, float weight, float* scores);

// The same of frequencies by slot, added to their scores.
void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores);

// The same for one posting.
inline float Contribution(float frequency, float saturation, float weight) {
  return (weight * frequency) / (frequency + saturation);
}

// Frequencies fit 31 bits but in damaged postings; the mask keeps these from turning negative, and lets signed
// conversion, which every instruction set has, do.
inline float FrequencyToFloat(uint32_t frequency) {
  return static_cast<float>(static_cast<int32_t>(frequency & 0x7fffffff));
}

}  // namespace gannet
