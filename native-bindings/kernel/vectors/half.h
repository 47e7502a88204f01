// Vectors of 16-bit floats (IEEE 754 binary16), as they are stored, and their products with vectors of 32-bit floats.
//
// Thread-safety: pure functions. Every version (portable, AVX2 with F16C) gives the same numbers.
#pragma once

#include <cstdint>
#include <span>

namespace gannet::vectors {

using Half = uint16_t;

// The nearest half, ties to even; what is too great becomes infinite. A number that is none stays none.
Half ToHalf(float value);
float FromHalf(Half value);
// `halves` has room for all of `values`, and the other way round.
void ToHalves(std::span<const float> values, Half* halves);
void FromHalves(std::span<const Half> halves, float* values);

// The inner product, of equally many numbers. Sixteen sums, which are added in one order.
float Product(std::span<const Half> halves, std::span<const float> floats);

}  // namespace gannet::vectors
