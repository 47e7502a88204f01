// A filter with a bit for each ordinal, from the lowest bit of the first word on.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "../kernel/vectors/vector_search.h"

namespace gannet::test {

class BitFilter : public vectors::OrdinalFilter {
 public:
  explicit BitFilter(std::vector<uint64_t> bits) : bits_(std::move(bits)) {
    for (const uint64_t word : bits_) count_ += static_cast<uint32_t>(std::popcount(word));
  }
  bool Has(uint32_t ordinal) const override { return (bits_[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
  uint32_t count() const override { return count_; }
  void List(std::vector<uint32_t>* ordinals) const override {
    for (uint32_t word = 0; word < bits_.size(); ++word) {
      for (uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1) {
        ordinals->push_back(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  std::vector<uint64_t> bits_;
  uint32_t count_ = 0;
};

}  // namespace gannet::test
