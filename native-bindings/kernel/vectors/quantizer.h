// Converts components of vectors to codes (code_dot.h): of one byte, with one step for all dimensions, or of four bits,
// with a scale per dimension.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gannet::vectors {

// A code of one byte is a whole number from -127 to 127, times `step`.
class Quantizer {
 public:
  explicit Quantizer(float step) : step_(step), inverse_(1 / step) {}
  // Makes a quantizer for a sample of the components such that hardly any of them is out of range. Reorders the sample.
  static Quantizer Of(std::vector<float>* components);
  float step() const { return step_; }
  int8_t Component(float value) const;
  void ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const;
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const;

 private:
  float step_;
  float inverse_;
};

// The scale of codes of four bits: in each dimension, a code stands for centre + (code - 7.5) * step. The step is 0 if
// all vectors have the same value in the dimension.
//
// A query is multiplied by the steps, so that its products with codes have the same order as those with the vectors:
// the centres add the same to every product.
class FourBitScale {
 public:
  // `numbers` must stay valid: the centres of all dimensions, then the steps.
  FourBitScale(std::span<const float> numbers) : numbers_(numbers) {}
  // Returns the numbers for vectors like these, which are one after the other.
  static std::vector<float> Of(std::span<const float> vectors, uint32_t dimensions);
  void ToCodes(std::span<const float> vector, std::span<uint8_t> codes) const;
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const;

 private:
  float centre(size_t i) const { return numbers_[i]; }
  float step(size_t i) const { return numbers_[numbers_.size() / 2 + i]; }
  std::span<const float> numbers_;
};

// Scales the vector to length 1. Returns false if that is impossible: its length is 0, or a component is not finite.
bool Normalize(std::span<float> vector);

}  // namespace gannet::vectors
