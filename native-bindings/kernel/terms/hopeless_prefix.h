// Skips the texts of a sorted dictionary that share a beginning from which a word cannot be reached.
//
// Examining a neighbour with the same hopeless beginning is cheap; jumping over a run of them is cheaper.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

class HopelessPrefix {
 public:
  // Records that a text is too far away and that all texts with the same `prefix` are, too (empty: no such prefix is
  // known). Returns true after a run of such texts: the next one should then be sought from After() on.
  bool ShouldJump(std::string_view prefix) {
    if (prefix.empty() || prefix != prefix_) {
      prefix_.assign(prefix);
      run_ = 0;
      return false;
    }
    return ++run_ >= kRunMax;
  }

  // Returns the least text after all that begin with the prefix. No byte of UTF-8 is 0xff.
  const std::string& After() {
    ++prefix_.back();
    run_ = 0;
    return prefix_;
  }

 private:
  // A look-up in a dictionary costs about as much as this number of steps.
  static constexpr uint32_t kRunMax = 8;

  std::string prefix_;
  uint32_t run_ = 0;
};

}  // namespace gannet
