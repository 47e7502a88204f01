// How many edits a word is away from the nearest beginning of a text: what "begins like the word, but for a typo"
// means while somebody types. The last letter that was typed has to be there, alone or exchanged with the one before:
// otherwise everything that begins with all but the last letter would be one edit away.
//
// Optimal string alignment over code points, a row of the dynamic programme per code point of the text. Rows are kept by
// depth, so that texts which share a prefix with the one before, as neighbours in a dictionary do, share its rows.
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
  // `word` is valid UTF-8 of at most kWordCodePointsMax code points; the rest of a longer one is not looked at.
  PrefixDistance(std::string_view word, uint32_t distance_max);

  // The fewest edits between the word and any beginning of the text that ends with the word's end; distance_max + 1
  // stands for more. Fastest when texts come in byte order.
  uint32_t Of(std::string_view text);

  // The beginning of the last text that decided its distance: every text that begins so has the same. Empty where the
  // whole text was needed.
  std::string_view decided_prefix() const { return is_decided_ ? std::string_view(text_) : std::string_view(); }

  static constexpr size_t kWordCodePointsMax = 64;

 private:
  struct Depth {
    uint32_t end;         // bytes of the text up to here
    uint32_t code_point;  // its last
    uint32_t best;        // fewest edits of any beginning up to here
    uint32_t row_minimum;
  };

  void Push(uint32_t code_point, uint32_t end);
  // True where the last code points of a text that ends with this one are those of the word, in this order or exchanged.
  bool EndsWord(uint32_t code_point) const;
  bool IsDecided() const;  // nothing behind the last depth can change the answer
  uint8_t* Row(size_t depth) { return rows_.data() + depth * width_; }

  std::vector<uint32_t> word_;
  uint32_t distance_max_;
  size_t width_;
  std::vector<uint8_t> rows_;  // of depth 0..depths_.size() - 1
  std::vector<Depth> depths_;  // the first stands for the empty text
  std::string text_;           // up to the last depth
  bool is_decided_ = false;
};

}  // namespace gannet
