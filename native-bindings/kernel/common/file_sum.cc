#include "file_sum.h"

#include <array>

#include "bytes.h"

namespace gannet {
namespace {

constexpr size_t kLanes = 8;
constexpr size_t kStripeBytes = kLanes * sizeof(uint64_t);
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;

uint64_t Mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kMultiplier;
  return sum ^ sum >> 32;
}

}  // namespace

uint64_t SumOfBytes(std::span<const uint8_t> bytes) {
  std::array<uint64_t, kLanes> low{};
  std::array<uint64_t, kLanes> high{};
  size_t at = 0;
  for (; at + kStripeBytes <= bytes.size(); at += kStripeBytes) {
    const uint8_t* stripe = bytes.data() + at;
    for (size_t lane = 0; lane < kLanes; ++lane) low[lane] += Load<uint64_t>(stripe + lane * sizeof(uint64_t));
    for (size_t lane = 0; lane < kLanes; ++lane) high[lane] += low[lane];
  }
  uint64_t sum = Mixed(kMultiplier, bytes.size());
  for (; at < bytes.size(); ++at) sum = Mixed(sum, bytes[at]);
  for (size_t lane = 0; lane < kLanes; ++lane) sum = Mixed(Mixed(sum, low[lane]), high[lane]);
  return sum;
}

}  // namespace gannet
