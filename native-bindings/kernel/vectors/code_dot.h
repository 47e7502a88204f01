// Inner products of vectors whose components are one byte each.
//
// A code is a component as an unsigned byte: 128 stands for zero, 1 for the least and 255 for the greatest value (128 + q, where q is
// -127 to 127). A query's components are signed bytes. All vectors are padded to a multiple of kCodePadding components with zeros, so that
// every version reads whole registers; they are read fastest where they begin at a multiple of 64 bytes.
//
// The product of a code u = 128 + q and a query p is the sum of q * p, exact in 32 bits: 127 * 127 * 65,536 dimensions.
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

// Vectors in one block of memory, `stride` bytes apart.
struct Codes {
  const uint8_t* first = nullptr;
  size_t stride = 0;
  const uint8_t* of(uint32_t place) const { return first + place * stride; }
};

// The query of `padded` components, and what all of its products have in common.
class CodeQuery {
 public:
  CodeQuery(const int8_t* components, uint32_t padded);
  // Puts the query in the form that a stored vector has: the query of a search for the neighbours of a vector.
  static void FromCodes(const uint8_t* codes, uint32_t padded, int8_t* components);

  int32_t Product(const uint8_t* codes) const;
  // products[i] is that with the vector at places[i]; fetches ahead within the list.
  void Products(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;
  // The same in two steps, between which something else can be done while they come from memory.
  void Fetch(const Codes& codes, std::span<const uint32_t> places) const;
  void ProductsOfFetched(const Codes& codes, std::span<const uint32_t> places, int32_t* products) const;

 private:
  const int8_t* components_;
  uint32_t padded_;
  int32_t bias_;  // 128 times the sum of the components: what codes have too much
};

// The inner product of two vectors of floats. Sixteen sums, which are added in one order: the same number in every version.
float Product(std::span<const float> a, std::span<const float> b);

}  // namespace gannet::vectors
