// Selects the elements of an array that reach a bar or are flagged, as bits or as indexes, with the widest vectors of
// the processor (common/simd.h).
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>

namespace gannet {

// Sets bits[word] for the 64-document words in the mask `words`: bit d = values[64 * word + d] >= threshold. Leaves the
// other words unchanged.
void CompareWords(const float* values, float threshold, uint64_t words, uint64_t* bits);

// The same for flags, which are 0 or 1: ORs the flag of each document into bit d.
void AddFlagWords(const uint8_t* flags, uint64_t words, uint64_t* bits);

// Writes the indexes of the values that reach `least`, ascending, and returns how many. `places` must have room for
// kVectorPadding more than `count`.
uint32_t SelectReaching(const float* values, uint32_t count, float least, uint32_t* places);

// The same, but `least_with_bit` is enough for values whose offset has its bit set.
uint32_t SelectReaching(const float* values, const uint32_t* offsets, uint32_t count, const uint64_t* bits, float least,
                        float least_with_bit, uint32_t* places);

// Writes the indexes of the documents whose bit (of document - base) is set, ascending, and returns how many; room as
// above.
uint32_t SelectMarked(const uint32_t* documents, uint32_t count, uint32_t base, const uint64_t* bits, uint32_t* places);

// Frequencies that postings must reach, by the norm code of their document.
struct FrequencyBar {
  std::array<float, 256> by_norm;
  float least;  // the least of them
};

// Writes the indexes of the postings whose frequency reaches the bar or whose offset has its bit set, ascending, and
// returns how many; room as above. `norms` is by offset.
uint32_t SelectReaching(const float* frequencies, const uint32_t* offsets, uint32_t count, const uint8_t* norms,
                        const FrequencyBar& bar, const uint64_t* bits, uint32_t* places);

}  // namespace gannet
