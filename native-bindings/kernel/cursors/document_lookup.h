// Looks documents up, in a decoded block of postings or in a set of bits, in the widest vectors that the processor has
// (common/simd.h).
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace gannet {

// What stands behind the last document of a block that is not full, in places up to kBlockSize.
inline constexpr uint32_t kBlockPadding = 0x7fffffff;

// For the `count` ascending documents from wanted[0] on, none behind the block's last: those that the block (kBlockSize
// places, ascending) has are written to *found, with their index in it and that in `wanted`. Returns how many. `found`
// may be `wanted` or lie before it.
uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places);

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

}  // namespace gannet
