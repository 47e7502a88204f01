// Vectors of 16-bit floats (IEEE 754 binary16), in which they are stored, and their products with vectors of 32-bit
// floats.
//
// Thread-safety: pure functions. Every version (portable, AVX2 with F16C) gives the same numbers.
#pragma once

#include <cstdint>
#include <span>

namespace gannet::vectors {

using Half = uint16_t;

// Returns the nearest half, ties to even. Values that are too large become infinite; NaN stays NaN.
Half ToHalf(float value);
float FromHalf(Half value);
// The output must have room for all input values.
void ToHalves(std::span<const float> values, Half* halves);
void FromHalves(std::span<const Half> halves, float* values);

// Returns the inner product of two vectors of the same length. Uses sixteen partial sums, added in a fixed order.
float Product(std::span<const Half> halves, std::span<const float> floats);

}  // namespace gannet::vectors
