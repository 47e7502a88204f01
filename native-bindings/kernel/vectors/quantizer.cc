#include "quantizer.h"

#include <algorithm>
#include <cmath>

#include "code_dot.h"

namespace gannet::vectors {
namespace {

// One in so many components may lie outside of what codes can say: those that do are cut.
constexpr double kCutShare = 1e-4;
constexpr float kGreatestCode = 127;

}  // namespace

Quantizer Quantizer::Of(std::vector<float>* components) {
  if (components->empty()) return Quantizer(1 / kGreatestCode);
  for (float& component : *components) component = std::fabs(component);
  const auto at =
      components->begin() + static_cast<ptrdiff_t>(static_cast<double>(components->size() - 1) * (1 - kCutShare));
  std::nth_element(components->begin(), at, components->end());
  return Quantizer(*at > 0 ? *at / kGreatestCode : 1 / kGreatestCode);
}

int8_t Quantizer::Component(float value) const {
  return static_cast<int8_t>(std::lround(std::clamp(value * inverse_, -kGreatestCode, kGreatestCode)));
}

void Quantizer::ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const {
  std::fill(padded.begin(), padded.end(), kZeroCode);
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = static_cast<uint8_t>(kZeroCode + Component(vector[i]));
}

void Quantizer::ToQuery(std::span<const float> vector, std::span<int8_t> padded) const {
  std::fill(padded.begin(), padded.end(), int8_t{0});
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = Component(vector[i]);
}

bool Normalize(std::span<float> vector) {
  // Squares of what a float can hold have room in a double.
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double inverse = 1 / std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(value * inverse);
  return true;
}

}  // namespace gannet::vectors
