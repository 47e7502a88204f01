// Bit packing of unsigned integers: a vertical layout for whole blocks and a horizontal one for the rest.
//
// Vertical (BP128 of Lemire and Boytsov, 2015): 128 values in four lanes; value i is in lane i % 4, and each lane is a
// stream of `width`-bit fields in 32-bit little-endian words, so that one 128-bit load serves four values. A block
// takes 16 * width bytes. Horizontal: value i occupies bits [i * width, (i + 1) * width) of a little-endian bit string;
// n values take ceil(n * width / 8) bytes, and each can be read alone.
//
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gannet {

inline constexpr unsigned kRows = 32;  // rows of a vertical block, four values each

inline unsigned BitWidth(uint32_t value) { return static_cast<unsigned>(std::bit_width(value)); }

// Writes 16 * width bytes. width <= 32, and every value is below 2^width.
void PackBlock(const uint32_t* values, unsigned width, uint8_t* out);
// Reads 16 * width bytes and writes 128 values, each plus `addend` (modulo 2^32). width <= 32.
void UnpackBlock(const uint8_t* bytes, unsigned width, uint32_t addend, uint32_t* out);
// The same without `addend`, but out[i] = out[i - 1] + value[i] + 1, with out[-1] = previous (modulo 2^32).
void UnpackBlockDeltas(const uint8_t* bytes, unsigned width, uint32_t previous, uint32_t* out);

// Return the sum of the first `count` values of a block, and the value at `index`. Neither unpacks more than necessary.
uint64_t SumBlock(const uint8_t* bytes, unsigned width, uint32_t count);
uint32_t BlockValue(const uint8_t* bytes, unsigned width, uint32_t index);

// Writes first + i for every set bit i of the `words` 64-bit words, ascending, and nothing after the last of them.
void UnpackBitset(const uint8_t* bytes, size_t words, uint32_t first, uint32_t* out);

inline size_t PackedBytes(uint64_t count, unsigned width) { return static_cast<size_t>((count * width + 7) / 8); }

// Appends ceil(count * width / 8) bytes.
void AppendPacked(const uint32_t* values, size_t count, unsigned width, std::vector<uint8_t>* out);
// Unpacks the values first .. first + count. width <= 32. The caller must have checked that PackedBytes(first + count,
// width) <= size. Nothing after bytes + size is read.
void UnpackRange(const uint8_t* bytes, size_t size, uint64_t first, size_t count, unsigned width, uint32_t* out);

}  // namespace gannet
