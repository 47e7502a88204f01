// Finds the values of a facet that match words, or beginnings of words, that a person typed: each of the words must
// begin a word of the value, in any order.
//
// Values are folded like texts (analysis/analyzer.h), so case and diacritics do not matter.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../analysis/analyzer.h"

namespace gannet {

class ValueWords {
 public:
  // `words` are folded; the texts they point to must outlive the object. Without words, every value matches.
  explicit ValueWords(std::span<const std::string_view> words) : words_(words), is_found_(words.size()) {}

  bool empty() const { return words_.empty(); }
  // `key` is a key of a string column, whose case is folded already.
  bool Match(std::string_view key);

 private:
  bool MatchPlain(std::string_view key) const;

  std::span<const std::string_view> words_;
  std::vector<uint8_t> is_found_;  // by word
  Analyzer analyzer_;
};

}  // namespace gannet
