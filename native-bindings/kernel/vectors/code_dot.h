// Inner products of vectors whose components are codes of one byte or of four bits each.
//
// A code of a byte is 128 for zero, 1 for the least and 255 for the greatest value (128 + q, where q is -127 to 127), and the product with a query p
// is the sum of q * p. One of four bits is 0 to 15, and the product is that with the codes as they stand. A query's components are signed
// bytes. Sums are exact in 32 bits: 127 * 127 * 65,536 dimensions.
//
// Vectors are padded, so that every version reads whole registers: those of bytes to a multiple of 64 components with zeros, those of four
// bits to a multiple of 128. Of each 128 of these the first 64 are the lower halves of 64 bytes, the others the upper ones. They are read
// fastest where they begin at a multiple of 64 bytes.
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

// What a query has room for: components with padding.
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

// Codes of sixteen vectors in one block: four bytes of each, then the next four of each. A register has a part of each of them, so nothing is added up across its lanes.
inline constexpr uint32_t kInterleaved = 16;

constexpr uint32_t InterleavedBlocks(uint32_t count) { return (count + kInterleaved - 1) / kInterleaved; }
// Puts the codes, `bytes` of each vector, as the one at `place` into blocks that lie behind each other; what is not put is to be zero.
void PutInterleaved(const uint8_t* codes, uint32_t bytes, uint32_t place, uint8_t* blocks);

// The query of vectors of `bytes` bytes of codes, and what all of its products have in common.
class CodeQuery {
 public:
  CodeQuery(const int8_t* components, uint32_t bytes, CodeBits bits = CodeBits::kEight);
  // Puts the query in the form that a stored vector has: the query of a search for the neighbours of a vector.
  static void FromCodes(const uint8_t* codes, uint32_t padded, int8_t* components);

  int32_t Product(const uint8_t* codes) const;
  // products[i] is that with the vector at places[i]; fetches ahead within the list.
  void Products(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;
  // The same in two steps, between which something else can be done while they come from memory.
  void Fetch(const Codes& codes, std::span<const uint32_t> places) const;
  void ProductsOfFetched(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;
  // Of all places of as many blocks.
  void ProductsOfInterleaved(const uint8_t* blocks, uint32_t count, int32_t* products) const;

 private:
  const int8_t* components_;
  uint32_t bytes_;
  CodeBits bits_;
  int32_t bias_ = 0;  // what codes have too much: of bytes 128 times the sum of the components
};

// Puts the numbers (0 the first) of the products that are at least `bar` into `numbers`, in their order, and returns how many there are. `numbers` has room for as
// many as there are products, and kListedMore.
inline constexpr size_t kListedMore = 16;
uint32_t ListFrom(std::span<const int32_t> products, int32_t bar, uint32_t* numbers);

// The inner product of two vectors of floats. Sixteen sums, which are added in one order: the same number in every version.
float Product(std::span<const float> a, std::span<const float> b);

}  // namespace gannet::vectors
