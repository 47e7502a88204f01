// Tests which raw values of a column lie in a range, 64 at a time: the inner loop of filters. Versions for the vector
// instructions of x86-64 are chosen at run time; all give the same bits.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace gannet {

// For each 64-value word in the mask `words`, sets bits[word]: one bit per value that is one of the `width` + 1 numbers
// from `first` on (modulo the value's width). All values of these words must be readable.
void TestRangeWords(const uint8_t* values, uint8_t first, uint8_t width, uint64_t words, uint64_t* bits);
void TestRangeWords(const uint16_t* values, uint16_t first, uint16_t width, uint64_t words, uint64_t* bits);
void TestRangeWords(const uint32_t* values, uint32_t first, uint32_t width, uint64_t words, uint64_t* bits);

}  // namespace gannet
