// Which values of a facet somebody looks for who has typed some words, or their beginnings: values in which each of these words begins
// a word, in any order.
//
// Values are folded as texts are (analysis/analyzer.h): neither case nor diacritics matter.
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
  // Folded. None: every value matches. What they point to outlives the object.
  explicit ValueWords(std::span<const std::string_view> words) : words_(words), is_found_(words.size()) {}

  bool empty() const { return words_.empty(); }
  // `key`: of a string column, so case is folded already.
  bool Match(std::string_view key);

 private:
  bool MatchPlain(std::string_view key) const;

  std::span<const std::string_view> words_;
  std::vector<uint8_t> is_found_;  // by word
  Analyzer analyzer_;
};

}  // namespace gannet
