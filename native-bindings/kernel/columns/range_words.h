// Which of many raw values of a column lie in a range, 64 at a time: the inner loop of filters. Versions for the vector
// instructions of x86-64 are chosen at run time; all give the same bits.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace gannet {

// For each of the 64-value words in the mask: bits[word] gets a bit per value that is one of the `width` + 1 numbers from
// `first` on, which wrap around. All values of these words are readable.
void TestRangeWords(const uint8_t* values, uint8_t first, uint8_t width, uint64_t words, uint64_t* bits);
void TestRangeWords(const uint16_t* values, uint16_t first, uint16_t width, uint64_t words, uint64_t* bits);
void TestRangeWords(const uint32_t* values, uint32_t first, uint32_t width, uint64_t words, uint64_t* bits);

}  // namespace gannet
