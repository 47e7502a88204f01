// Inner products of vectors whose components are codes of one byte or of four bits.
//
// A code of one byte is 128 for zero, 1 for the least and 255 for the greatest value (128 + q with q in -127 to 127);
// its product with a query p is the sum of q * p. A code of four bits is 0 to 15; its product uses the codes unchanged.
// A query's components are signed bytes. Sums are exact in 32 bits: 127 * 127 * 65,536 dimensions.
//
// Vectors are padded so that every version reads whole registers: with codes of bytes to a multiple of 64 components
// (with zeros), with codes of four bits to a multiple of 128. Of each 128 four-bit components, the first 64 are the
// lower halves of 64 bytes, the others the upper halves. Reads are fastest if vectors begin at a multiple of 64 bytes.
//
// Thread-safety: pure functions. Every version (portable, AVX2, AVX-512 VNNI) gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gannet::vectors {

inline constexpr uint32_t kCodePadding = 64;
inline constexpr uint8_t kZeroCode = 128;

constexpr uint32_t PaddedDimensions(uint32_t dimensions) {
  return (dimensions + kCodePadding - 1) / kCodePadding * kCodePadding;
}

enum class CodeBits : uint8_t { kFour = 4, kEight = 8 };

// Returns the number of components of a query, with padding.
constexpr uint32_t QueryComponents(uint32_t dimensions, CodeBits bits) {
  return bits == CodeBits::kEight ? PaddedDimensions(dimensions)
                                  : (dimensions + 2 * kCodePadding - 1) / (2 * kCodePadding) * (2 * kCodePadding);
}

constexpr uint32_t BytesOfCodes(uint32_t dimensions, CodeBits bits) {
  return QueryComponents(dimensions, bits) / (bits == CodeBits::kEight ? 1 : 2);
}

// Vectors in one block of memory, `stride` bytes apart.
struct Codes {
  const uint8_t* first = nullptr;
  size_t stride = 0;
  const uint8_t* of(uint32_t place) const { return first + place * stride; }
};

// Codes of sixteen vectors interleaved in one block: four bytes of each vector, then the next four of each. A register
// then has a part of each vector, and nothing has to be summed across its lanes.
inline constexpr uint32_t kInterleaved = 16;

constexpr uint32_t InterleavedBlocks(uint32_t count) { return (count + kInterleaved - 1) / kInterleaved; }
// Puts the codes (`bytes` per vector) as the vector at `place` into consecutive blocks. Bytes of places that are not
// put must be zero.
void PutInterleaved(const uint8_t* codes, uint32_t bytes, uint32_t place, uint8_t* blocks);

// A query for vectors with `bytes` bytes of codes, with what all of its products have in common.
class CodeQuery {
 public:
  CodeQuery(const int8_t* components, uint32_t bytes, CodeBits bits = CodeBits::kEight);
  // Converts a stored vector into a query, to search for the neighbours of a vector.
  static void FromCodes(const uint8_t* codes, uint32_t padded, int8_t* components);

  int32_t Product(const uint8_t* codes) const;
  // Sets products[i] to the product with the vector at places[i]; prefetches within the list.
  void Products(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;
  // The same in two steps, so that other work can be done while the codes are fetched from memory.
  void Fetch(const Codes& codes, std::span<const uint32_t> places) const;
  void ProductsOfFetched(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;
  // Computes the products of all places of `count` blocks.
  void ProductsOfInterleaved(const uint8_t* blocks, uint32_t count, int32_t* products) const;

 private:
  const int8_t* components_;
  uint32_t bytes_;
  CodeBits bits_;
  int32_t bias_ = 0;  // subtracted from each product: for codes of bytes, 128 times the sum of the components
};

// Writes the indexes (from 0) of the products that are at least `bar` to `numbers`, in order, and returns how many
// there are. `numbers` must have room for kListedMore more than the number of products.
inline constexpr size_t kListedMore = 16;
uint32_t ListFrom(std::span<const int32_t> products, int32_t bar, uint32_t* numbers);

// Returns the inner product of two vectors of floats. Uses sixteen partial sums, added in a fixed order, so every
// version gives the same number.
float Product(std::span<const float> a, std::span<const float> b);

}  // namespace gannet::vectors
