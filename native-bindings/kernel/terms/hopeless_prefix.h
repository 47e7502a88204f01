// Passing over the texts of a sorted dictionary from whose beginning a word cannot be reached.
//
// A neighbour with the same hopeless beginning is cheap to look at; a run of them is cheaper to jump over.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

class HopelessPrefix {
 public:
  // Notes that a text is too far away and that so is all with the same `prefix` (empty: none is known). True where
  // so many such texts came one after the other that the next one should be sought from After() on.
  bool ShouldJump(std::string_view prefix) {
    if (prefix.empty() || prefix != prefix_) {
      prefix_.assign(prefix);
      run_ = 0;
      return false;
    }
    return ++run_ >= kRunMax;
  }

  // The least text behind all that begin with the prefix. In UTF-8 no byte is 0xff.
  const std::string& After() {
    ++prefix_.back();
    run_ = 0;
    return prefix_;
  }

 private:
  // A look-up in a dictionary costs about as much as so many steps.
  static constexpr uint32_t kRunMax = 8;

  std::string prefix_;
  uint32_t run_ = 0;
};

}  // namespace gannet
