// Computes what a posting adds to the score of its document (BM25), with the widest vectors of the processor
// (common/simd.h).
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace gannet {

// Contributions are never less than this, so that every match has a score above 0.
inline constexpr float kLeastPositive = std::numeric_limits<float>::min();

// Computes BM25 for `count` <= kBlockSize postings: weight * f / (f + saturation[norms[document]]). kVectorPadding more
// frequencies must be readable, and that many more contributions writable.
void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions);

// The same for postings whose documents are bits (whole words, in order), added to the documents' scores. `norms` and
// `scores` start at the first bit and reach as far as the bits do. Reads at most kBlockSize frequencies, and returns
// the number of bits.
uint32_t AddBitsetContributions(std::span<const uint8_t> bits, const uint32_t* frequencies, const uint8_t* norms,
                                const float* saturation, float weight, float* scores);

// The same for frequencies by slot, added to their scores.
void AddContributions(const float* frequencies, const float* saturations, uint32_t count, float weight, float* scores);

// The same for one posting.
inline float Contribution(float frequency, float saturation, float weight) {
  return (weight * frequency) / (frequency + saturation);
}

// Frequencies fit into 31 bits except in damaged postings. The mask keeps these from becoming negative, and allows the
// signed conversion, which every instruction set has.
inline float FrequencyToFloat(uint32_t frequency) {
  return static_cast<float>(static_cast<int32_t>(frequency & 0x7fffffff));
}

}  // namespace gannet
