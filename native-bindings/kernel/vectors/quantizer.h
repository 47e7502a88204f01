// Components of vectors as one byte each.
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

// Makes the length 1. False where that cannot be: the length is 0, or a component is no finite number.
bool Normalize(std::span<float> vector);

}  // namespace gannet::vectors
