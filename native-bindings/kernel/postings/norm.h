// Document length codes: exact below 64, then in steps of 7 %, so that a length is off by at most 3.5 %.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace gannet {

inline const std::array<float, 256>& NormLengths() {
  static const std::array<float, 256> lengths = [] {
    std::array<float, 256> values{};
    for (int code = 0; code < 256; ++code) {
      values[code] = code < 64 ? static_cast<float>(code)
                               : static_cast<float>(std::round(64.0 * std::pow(1.07, code - 64)));
    }
    return values;
  }();
  return lengths;
}

// Returns the code whose length is nearest to `length`.
inline uint8_t EncodeNorm(uint64_t length) {
  if (length < 64) return static_cast<uint8_t>(length);
  const auto& lengths = NormLengths();
  int low = 64;
  int high = 255;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (lengths[middle] <= static_cast<double>(length)) low = middle; else high = middle - 1;
  }
  if (low < 255 && lengths[low + 1] - static_cast<double>(length) < static_cast<double>(length) - lengths[low]) ++low;
  return static_cast<uint8_t>(low);
}

}  // namespace gannet
