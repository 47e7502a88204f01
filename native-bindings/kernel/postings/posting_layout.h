// Constants of the posting list layout, shared by its writer and reader; docs/formats.md describes the layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gannet {

inline constexpr uint64_t kExternalFlag = 1;           // first varint of a term's value: the list is in a chunk
inline constexpr uint8_t kDeltaWidthMax = 24;          // document codes up to this: width of packed deltas minus one
inline constexpr uint8_t kBitsetFlag = 0x80;           // document code: bitset, with its 64-bit words in the low bits
inline constexpr uint8_t kBitsetWordsMask = 0x7f;
inline constexpr size_t kBitsetHeaderBytes = 3;        // u24 first document
inline constexpr uint8_t kFrequencyUnitFlag = 0x80;    // frequency code: a u16 unit follows
inline constexpr uint8_t kFrequencyWidthMask = 0x3f;
inline constexpr uint8_t kCountsAreFrequencies = 0xff; // count code: occurrences equal the stored frequencies
inline constexpr size_t kImpactBytes = 3;              // u16 frequency, u8 norm

}  // namespace gannet
