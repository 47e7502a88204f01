// Chooses the part of a text to show, and marks it up.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "term_matcher.h"

namespace gannet {

struct Passage {
  size_t begin = 0;  // byte range in the text
  size_t end = 0;
  uint32_t distinct = 0;  // number of different matches in it
  uint32_t matches = 0;
};

// Returns the passage with most different matches, then most matches, then the first one. `matches` must not be empty.
Passage ChoosePassage(std::string_view text, const std::vector<WordMatch>& matches, uint32_t characters_max);

// Returns the passage as HTML, with ellipses where it was cut out of the text.
std::string MarkPassage(std::string_view text, const std::vector<WordMatch>& matches, const Passage& passage);

}  // namespace gannet
