#include "quantizer.h"

#include <algorithm>
#include <cmath>

#include "code_dot.h"

namespace gannet::vectors {
namespace {

// Share of the components that may be outside the range of codes; these are clamped.
constexpr double kCutShare = 1e-4;
constexpr float kGreatestCode = 127;
constexpr float kGreatestFourBits = 15;
// Number of standard deviations that the scale of four bits covers on either side.
constexpr double kDeviations = 3;

// Rounds to the nearest whole number, for values within the range of codes; faster than std::lround, which uses the
// rounding mode.
int32_t Rounded(float value) { return static_cast<int32_t>(value + (value < 0 ? -0.5f : 0.5f)); }

// Clamps and rounds; NaN gives some number.
int8_t Cut(float value) {
  return static_cast<int8_t>(Rounded(std::max(-kGreatestCode, std::min(kGreatestCode, value))));
}

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
  return Cut(value * inverse_);
}

void Quantizer::ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const {
  std::fill(padded.begin(), padded.end(), kZeroCode);
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = static_cast<uint8_t>(kZeroCode + Component(vector[i]));
}

void Quantizer::ToQuery(std::span<const float> vector, std::span<int8_t> padded) const {
  std::fill(padded.begin(), padded.end(), int8_t{0});
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = Component(vector[i]);
}

std::vector<float> FourBitScale::Of(std::span<const float> vectors, uint32_t dimensions) {
  const auto count = static_cast<double>(vectors.size() / dimensions);
  std::vector<double> sums(dimensions), squares(dimensions);
  for (size_t i = 0; i < vectors.size(); ++i) {
    sums[i % dimensions] += vectors[i];
    squares[i % dimensions] += static_cast<double>(vectors[i]) * vectors[i];
  }
  std::vector<float> numbers(2 * size_t{dimensions});
  for (uint32_t i = 0; i < dimensions; ++i) {
    const double centre = sums[i] / count;
    const double deviation = std::sqrt(std::max(0.0, squares[i] / count - centre * centre));
    numbers[i] = static_cast<float>(centre);
    numbers[dimensions + i] = static_cast<float>(2 * kDeviations * deviation / kGreatestFourBits);
  }
  return numbers;
}

void FourBitScale::ToCodes(std::span<const float> vector, std::span<uint8_t> codes) const {
  std::fill(codes.begin(), codes.end(), uint8_t{0});
  for (size_t i = 0; i < vector.size(); ++i) {
    if (step(i) == 0) continue;
    const float at = std::clamp((vector[i] - centre(i)) / step(i) + kGreatestFourBits / 2, 0.0f, kGreatestFourBits);
    const size_t in_block = i % (2 * kCodePadding);
    const auto code = static_cast<uint32_t>(Rounded(at)) << (in_block < kCodePadding ? 0 : 4);
    codes[i / (2 * kCodePadding) * kCodePadding + in_block % kCodePadding] |= static_cast<uint8_t>(code);
  }
}

void FourBitScale::ToQuery(std::span<const float> vector, std::span<int8_t> padded) const {
  std::fill(padded.begin(), padded.end(), int8_t{0});
  const size_t size = vector.size();
  const float* const steps = &numbers_[numbers_.size() / 2];
  // Handles several lanes at a time: the compiler does not reorder a maximum of floats by itself.
  constexpr size_t kLanes = 16;
  float greatest[kLanes] = {};
  const auto meet = [&](size_t i, float* lane) {
    const float value = std::fabs(vector[i] * steps[i]);
    *lane = value > *lane ? value : *lane;
  };
  size_t at = 0;
  for (; at + kLanes <= size; at += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) meet(at + lane, &greatest[lane]);
  }
  for (; at < size; ++at) meet(at, &greatest[0]);
  const float scale = kGreatestCode / *std::max_element(greatest, greatest + kLanes);
  if (!(scale > 0) || !std::isfinite(scale)) return;
  int8_t* const components = padded.data();
  for (size_t i = 0; i < size; ++i) components[i] = Cut(vector[i] * steps[i] * scale);
}

bool Normalize(std::span<float> vector) {
  // The squares of floats cannot overflow a double.
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double inverse = 1 / std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(value * inverse);
  return true;
}

}  // namespace gannet::vectors
