// How many of the documents in a set have each raw value of a column: the inner loop of facets. A version for the vector instructions of
// x86-64 is chosen at run time; it counts the same.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace gannet {

// For each of the 64-document words in the mask: adds one to table[value] for each bit of bits[word]. The values of these documents are
// readable, others need not be; `table` has an entry for each number that a value may be. Returns the greatest value that was counted, 0
// where none was.
uint32_t TallyWords(const uint8_t* values, const uint64_t* bits, uint64_t words, uint32_t* table);
uint32_t TallyWords(const uint16_t* values, const uint64_t* bits, uint64_t words, uint32_t* table);

}  // namespace gannet
