// Looks up documents in a decoded block of postings or in a bit set, with the widest vectors of the processor
// (common/simd.h).
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace gannet {

// Fills the places after the last document of an incomplete block, up to kBlockSize.
inline constexpr uint32_t kBlockPadding = 0x7fffffff;

// Finds the `count` ascending documents from wanted[0] on, none after the block's last, in the block (kBlockSize
// places, ascending). Writes those found to *found, their indexes in the block to *indexes and their indexes in
// `wanted` to *places. Returns how many were found. `found` may be `wanted` or lie before it.
uint32_t FindInBlock(const uint32_t* block, const uint32_t* wanted, uint32_t count, uint32_t* found, uint32_t* indexes,
                     uint32_t* places);

// Numbers the documents of a span: a bit per document, and for each word of bits the number of bits before it.
struct Slots {
  const uint64_t* bits;
  const uint32_t* ranks;
  uint32_t count;
};

// Writes, for each word, the number of bits set in the words before it. Returns the total number of bits set.
uint32_t RankWords(const uint64_t* bits, uint32_t words, uint32_t* ranks);

// Returns the number of a document; slots.count if it has none.
uint32_t FindSlot(const Slots& slots, uint32_t offset);

// Adds each value to sums[slot] and sets slot_offsets[slot] to its offset, where slot is the number of the document
// with this offset. Documents that have no number use slots.count, one place after the others.
void AddBySlot(const Slots& slots, std::span<const uint32_t> offsets, const float* values, float* sums,
               uint32_t* slot_offsets);

}  // namespace gannet
