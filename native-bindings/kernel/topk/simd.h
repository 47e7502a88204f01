// The inner loops that vector instructions are worth it for. Each has a portable version and, on x86-64, versions
// that are chosen at run time; all give bit-identical results (no fused multiply-add can arise: no product is
// ever added to).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "../format.h"

namespace gannet {

// Contributions are never less than this: what matches scores at least so much.
inline constexpr float kLeastPositive = std::numeric_limits<float>::min();

// Sets bits[word] for the 64-document words in the mask `words`: bit d = values[64 * word + d] >= threshold. Leaves the
// other words alone.
void CompareWords(const float* values, float threshold, uint64_t words, uint64_t* bits);

// The same for flags, which are 0 or 1: bit d = the flag of the document, added to what is there.
void AddFlagWords(const uint8_t* flags, uint64_t words, uint64_t* bits);

// 64 such flags as bits: the first is the lowest.
uint64_t FlagWord(const uint8_t* flags);

// What stands behind the last document of a block that is not full, in places up to kBlockSize.
inline constexpr uint32_t kBlockPadding = 0x7fffffff;

// For the `count` ascending documents from wanted[0] on, none behind the block's last: those that the block (kBlockSize
// places, ascending) has are written to *found, with their index in it and that in `wanted`. Returns how many. `found`
// may be `wanted` or lie before it.
uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places);

// Elements that must be readable behind the frequencies, and writable behind the contributions, of a run.
inline constexpr uint32_t kVectorPadding = 16;

// Documents of a span, numbered: bits by document, and for each word of bits how many come before it.
struct Slots {
  const uint64_t* bits;
  const uint32_t* ranks;
  uint32_t count;
};

// Writes, for each of the words, how many bits are set in those before it. Returns how many there are in all.
uint32_t RankWords(const uint64_t* bits, uint32_t words, uint32_t* ranks);

// The number of a document; slots.count where it has none.
uint32_t FindSlot(const Slots& slots, uint32_t offset);

// Adds each value to sums[slot] and sets slot_offsets[slot] to its offset, where slot is the number of the document with
// this offset; slots.count, one place behind the others, for those that have none.
void AddBySlot(const Slots& slots, std::span<const uint32_t> offsets, const float* values, float* sums,
               uint32_t* slot_offsets);

// Writes the places of the values that reach `least`, ascending, and returns how many. `places` has room for kVectorPadding
// more than `count`.
uint32_t SelectReaching(const float* values, uint32_t count, float least, uint32_t* places);

// The same where `least_with_bit` is enough for values whose offset has its bit.
uint32_t SelectReaching(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits, float least,
                        float least_with_bit, uint32_t* places);

// BM25 of `count` <= kBlockSize postings: weight * f / (f + saturation[norms[document]]).
void Contributions(const uint32_t* documents, const uint32_t* frequencies, uint32_t count, const uint8_t* norms,
                   const float* saturation, float weight, float* contributions);

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
