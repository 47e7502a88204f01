// Counts how many documents of a set have each raw value of a column: the inner loop of facets. A version for the
// vector instructions of x86-64 is chosen at run time; it gives the same counts.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace gannet {

// For each 64-document word in the mask `words`, increments table[value] for each bit of bits[word]. The values of
// these documents must be readable; `table` must have an entry for every possible value. Returns the greatest value
// that was counted, 0 if none was.
uint32_t TallyWords(const uint8_t* values, const uint64_t* bits, uint64_t words, uint32_t* table);
uint32_t TallyWords(const uint16_t* values, const uint64_t* bits, uint64_t words, uint32_t* table);

}  // namespace gannet
