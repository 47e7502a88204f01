// Components of vectors as codes (code_dot.h): of one byte, by one step for all, or of four bits, by a scale for each dimension.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gannet::vectors {

// Each code is `step` times a whole number from -127 to 127.
class Quantizer {
 public:
  explicit Quantizer(float step) : step_(step), inverse_(1 / step) {}
  // Of a sample of the components: hardly one of them lies outside. Reorders the sample.
  static Quantizer Of(std::vector<float>* components);
  float step() const { return step_; }
  int8_t Component(float value) const;
  void ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const;
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const;

 private:
  float step_;
  float inverse_;
};

// By dimension, what a code of four bits stands for: centre + (code - 7.5) * step. A step of 0 is that of a dimension in which all are alike.
//
// A query has the steps in it, so that its products with codes have the order of those of the vectors: what the centres add is the same for all.
class FourBitScale {
 public:
  // The numbers stay where they are: centres of all dimensions, then steps.
  FourBitScale(std::span<const float> numbers) : numbers_(numbers) {}
  // The numbers, for vectors like these: one behind the other.
  static std::vector<float> Of(std::span<const float> vectors, uint32_t dimensions);
  void ToCodes(std::span<const float> vector, std::span<uint8_t> codes) const;
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const;

 private:
  float centre(size_t i) const { return numbers_[i]; }
  float step(size_t i) const { return numbers_[numbers_.size() / 2 + i]; }
  std::span<const float> numbers_;
};

// Makes the length 1. False where that cannot be: the length is 0, or a component is no finite number.
bool Normalize(std::span<float> vector);

}  // namespace gannet::vectors
