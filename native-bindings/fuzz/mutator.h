// Mutates inputs by a seed, without guidance by coverage.
//
// Thread-safety: one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "fuzz_target.h"

namespace gannet::fuzz {

class Mutator {
 public:
  // `seeds` must outlive the mutator.
  Mutator(const std::vector<Input>& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}

  Input Next() {
    Input input = seeds_[Below(seeds_.size())];
    // Makes mostly few changes, or none, so that the input still resembles the seed. One input in 16 gets up to 63.
    for (size_t changes = Below(16) == 0 ? Below(64) : Below(5); changes > 0; --changes) Change(&input);
    return input;
  }

 private:
  static constexpr size_t kBytesMax = size_t{1} << 20;
  static constexpr std::array<uint64_t, 12> kBorders = {
      0,          1,          0x7f,       0x80,           0xff,                  0x7fff,
      0xffff,     0x7fffffff, 0x80000000, 0xffffffff,     0x7fffffffffffffffull, 0xffffffffffffffffull};

  size_t Below(size_t end) { return end == 0 ? 0 : static_cast<size_t>(random_() % end); }

  void Change(Input* input) {
    const size_t at = Below(input->size());
    const size_t length = std::min(1 + Below(Below(8) == 0 ? 4096 : 16), input->size() - at);
    const auto begin = input->begin() + static_cast<ptrdiff_t>(at);
    switch (Below(10)) {
      case 0:
        if (!input->empty()) (*input)[at] ^= static_cast<uint8_t>(1u << Below(8));
        return;
      case 1:
        if (!input->empty()) (*input)[at] = static_cast<uint8_t>(random_());
        return;
      case 2:
        return WriteNumber(kBorders[Below(kBorders.size())], at, input);
      case 3:
        return AddToNumber(at, input);
      case 4:
        input->erase(begin, begin + static_cast<ptrdiff_t>(length));
        return;
      case 5:
        std::fill_n(begin, length, static_cast<uint8_t>(random_()));
        return;
      case 6:
        return Insert(Input(begin, begin + static_cast<ptrdiff_t>(length)), Below(input->size() + 1), input);
      case 7:
        return CopyOver(at, length, input);
      case 8:
        return Insert(PieceOfASeed(), Below(input->size() + 1), input);
      default:
        if (Below(4) == 0) input->resize(at);
        return;
    }
  }

  // Writes the number in 1, 2, 4 or 8 bytes, little-endian as in the kernel's formats.
  void WriteNumber(uint64_t number, size_t at, Input* input) {
    const size_t bytes = std::min(size_t{1} << Below(4), input->size() - at);
    for (size_t i = 0; i < bytes; ++i) (*input)[at + i] = static_cast<uint8_t>(number >> (8 * i));
  }

  void AddToNumber(size_t at, Input* input) {
    uint32_t number = 0;
    if (input->size() - at < sizeof(number)) return;
    std::memcpy(&number, input->data() + at, sizeof(number));
    number += static_cast<uint32_t>(Below(33)) - 16;
    std::memcpy(input->data() + at, &number, sizeof(number));
  }

  void Insert(const Input& piece, size_t at, Input* input) {
    if (input->size() + piece.size() > kBytesMax) return;
    input->insert(input->begin() + static_cast<ptrdiff_t>(at), piece.begin(), piece.end());
  }

  void CopyOver(size_t from, size_t length, Input* input) {
    if (input->empty()) return;  // An empty vector has no address to move from.
    const size_t to = Below(input->size());
    std::memmove(input->data() + to, input->data() + from, std::min(length, input->size() - to));
  }

  Input PieceOfASeed() {
    const Input& seed = seeds_[Below(seeds_.size())];
    const size_t at = Below(seed.size());
    const size_t length = std::min(1 + Below(64), seed.size() - at);
    const auto begin = seed.begin() + static_cast<ptrdiff_t>(at);
    return Input(begin, begin + static_cast<ptrdiff_t>(length));
  }

  const std::vector<Input>& seeds_;
  std::mt19937_64 random_;
};

}  // namespace gannet::fuzz
