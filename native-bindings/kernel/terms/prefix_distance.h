// Computes the fewest edits between a word and any beginning of a text: what "begins like the word, except for a typo"
// means while somebody types. The last typed letter must be there, alone or swapped with the one before. Otherwise
// everything that begins with all but the last letter would be one edit away.
//
// Uses optimal string alignment over code points, with one row of the dynamic programme per code point of the text.
// Rows are kept by depth, so that a text that shares a prefix with the previous one, as neighbours in a dictionary do,
// shares its rows.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gannet {

class PrefixDistance {
 public:
  // `word` must be valid UTF-8; only its first kWordCodePointsMax code points are used.
  PrefixDistance(std::string_view word, uint32_t distance_max);

  // Returns the fewest edits between the word and any beginning of the text that ends with the word's end; distance_max
  // + 1 means more than distance_max. Fastest if texts come in byte order.
  uint32_t Of(std::string_view text);

  // The beginning of the last text that decided its distance: every text that begins with it has the same distance.
  // Empty if the whole text was needed.
  std::string_view decided_prefix() const { return is_decided_ ? std::string_view(text_) : std::string_view(); }

  static constexpr size_t kWordCodePointsMax = 64;

 private:
  struct Depth {
    uint32_t end;         // bytes of the text up to here
    uint32_t code_point;  // its last code point
    uint32_t best;        // fewest edits of any beginning up to here
    uint32_t row_minimum;
  };

  void Push(uint32_t code_point, uint32_t end);
  // Returns true if the last code points of a text that ends with this one are those of the word, in this order or
  // swapped.
  bool EndsWord(uint32_t code_point) const;
  // Returns true if nothing after the last depth can change the answer.
  bool IsDecided() const;
  uint8_t* Row(size_t depth) { return rows_.data() + depth * width_; }

  std::vector<uint32_t> word_;
  uint32_t distance_max_;
  size_t width_;
  std::vector<uint8_t> rows_;  // of depth 0..depths_.size() - 1
  std::vector<Depth> depths_;  // the first is the empty text
  std::string text_;           // up to the last depth
  bool is_decided_ = false;
};

}  // namespace gannet
