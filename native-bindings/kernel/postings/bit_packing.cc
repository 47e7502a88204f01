#include "bit_packing.h"

#include <algorithm>
#include <cstring>

#include "../common/bits.h"
#include "../common/bytes.h"

namespace gannet {

void PackBlock(const uint32_t* values, unsigned width, uint8_t* out) {
  if (width == 0) return;
  std::memset(out, 0, 16 * width);
  for (unsigned row = 0; row < kRows; ++row) {
    const unsigned bit = row * width;
    const unsigned word = bit / 32;
    const unsigned shift = bit % 32;
    for (unsigned lane = 0; lane < 4; ++lane) {
      const uint64_t value = static_cast<uint64_t>(values[4 * row + lane]) << shift;
      uint8_t* low = out + 16 * word + 4 * lane;
      Store(low, Load<uint32_t>(low) | static_cast<uint32_t>(value));
      if (shift + width > 32) Store(low + 16, static_cast<uint32_t>(value >> 32));
    }
  }
}

uint64_t SumBlock(const uint8_t* bytes, unsigned width, uint32_t count) {
  if (width == 0) return 0;
  if (width > 2) {
    uint32_t values[kRows * 4];
    UnpackBlock(bytes, width, 0, values);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  // One or two bits per value: sums two lanes at a time, one word after the other.
  const auto rows = [&](uint32_t lane) { return count / 4 + (lane < count % 4 ? 1 : 0); };
  const uint32_t rows_per_word = 32 / width;
  uint64_t sum = 0;
  for (uint32_t word = 0; word < width; ++word) {
    const uint32_t before = word * rows_per_word;
    const auto mask = [&](uint32_t lane) {
      const uint32_t used = std::min(std::max(rows(lane), before) - before, rows_per_word) * width;
      return (uint64_t{1} << used) - 1;
    };
    for (uint32_t lane = 0; lane < 4; lane += 2) {
      const uint64_t packed = Load<uint64_t>(bytes + 16 * word + 4 * lane) & (mask(lane) | mask(lane + 1) << 32);
      if (width == 1) {
        sum += PopCount(packed);
      } else {
        constexpr uint64_t kLowBits = 0x5555555555555555;
        sum += PopCount(packed & kLowBits) + 2 * PopCount(packed & ~kLowBits);
      }
    }
  }
  return sum;
}

uint32_t BlockValue(const uint8_t* bytes, unsigned width, uint32_t index) {
  if (width == 0) return 0;
  const unsigned bit = index / 4 * width;
  const uint8_t* at = bytes + 16 * (bit / 32) + 4 * (index % 4);
  const unsigned shift = bit % 32;
  uint64_t packed = Load<uint32_t>(at) >> shift;
  if (shift + width > 32) packed |= uint64_t{Load<uint32_t>(at + 16)} << (32 - shift);
  return static_cast<uint32_t>(packed & ((uint64_t{1} << width) - 1));
}

void AppendPacked(const uint32_t* values, size_t count, unsigned width, std::vector<uint8_t>* out) {
  uint64_t pending = 0;
  unsigned pending_bits = 0;
  for (size_t i = 0; i < count; ++i) {
    pending |= static_cast<uint64_t>(values[i]) << pending_bits;
    pending_bits += width;
    while (pending_bits >= 8) {
      out->push_back(static_cast<uint8_t>(pending));
      pending >>= 8;
      pending_bits -= 8;
    }
  }
  if (pending_bits > 0) out->push_back(static_cast<uint8_t>(pending));
}

void UnpackRange(const uint8_t* bytes, size_t size, uint64_t first, size_t count, unsigned width, uint32_t* out) {
  if (width == 0) {
    std::fill_n(out, count, 0);
    return;
  }
  constexpr size_t kWordBytes = 8;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  uint64_t bit = first * width;
  size_t i = 0;
  // At most 7 + 32 bits are needed, so one 64-bit load is enough as long as eight bytes remain.
  const uint64_t loadable_bits = size < kWordBytes ? 0 : 8 * (size - kWordBytes + 1);
  if (bit < loadable_bits) {
    const size_t loadable = std::min<uint64_t>(count, (loadable_bits - 1 - bit) / width + 1);
    for (; i < loadable; ++i, bit += width) out[i] = static_cast<uint32_t>((Load<uint64_t>(bytes + bit / 8) >> (bit % 8)) & mask);
  }
  if (i == count) return;
  const size_t rest_bytes = std::min(size, kWordBytes);
  const uint64_t rest_begin = 8 * (size - rest_bytes);
  uint64_t rest = 0;
  if (rest_bytes == kWordBytes) {
    rest = Load<uint64_t>(bytes + size - kWordBytes);
  } else {
    std::memcpy(&rest, bytes, rest_bytes);
  }
  for (; i < count; ++i, bit += width) {
    const uint64_t shift = bit - rest_begin;
    out[i] = shift < 64 ? static_cast<uint32_t>((rest >> shift) & mask) : 0;
  }
}

}  // namespace gannet
