// Which strings are within some edits of a word, decided one code point at a time.
//
// The state after a prefix is the row of the dynamic programme for the optimal string alignment distance, cut to the
// band that can still matter. Rows are kept by depth, so that strings that share a prefix with the one before, as
// neighbours in a dictionary do, share its rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gannet {

class EditAutomaton {
 public:
  EditAutomaton(std::string_view word, uint32_t distance_max);

  // Replaces the text by `next`, byte-wise larger than it. True where next is within the distance.
  bool Accept(std::string_view next);
  // After Accept was true.
  uint32_t distance() const;

  // After Accept was false: true where nothing that begins as the text did up to where hope ended can be within the
  // distance; then *seek is a lower bound of the next string that can (empty: none), larger than the text.
  bool SkipTo(std::string* seek) const;

 private:
  struct Depth {
    uint32_t end = 0;         // bytes of the prefix
    uint32_t code_point = 0;  // its last
  };

  bool Push(uint32_t code_point, uint32_t end);
  bool FillRow(size_t depth, uint32_t code_point, uint8_t* row) const;
  bool IsAlive(size_t depth, uint32_t code_point) const;
  uint8_t* Row(size_t depth) { return rows_.data() + depth * width_; }
  const uint8_t* Row(size_t depth) const { return rows_.data() + depth * width_; }

  std::vector<uint32_t> word_;
  std::vector<uint32_t> letters_;  // distinct, ascending
  uint32_t distance_max_;
  size_t width_;
  std::vector<uint8_t> rows_;  // rows of depth 0..depths_.size() are good
  std::vector<Depth> depths_;
  mutable std::vector<uint8_t> trial_row_;
  std::string text_;
  bool is_dead_ = false;  // the code point behind the last depth killed it
  uint32_t killer_ = 0;
};

}  // namespace gannet
