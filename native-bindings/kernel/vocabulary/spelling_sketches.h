// Tells of most words that no term of a small dictionary is near them, without a walk through its spelling index.
//
// A sketch of a word is its length and the set of its characters, folded to 64. An edit changes the length by one at the
// most, and the set by two members at the most (one character goes, another comes): so a term can only be within some
// edits of a word if their sketches are within as much. Comparing two is a few instructions, and a segment of a few
// documents, of which a list has a handful beside writes, holds some ten to hundred terms.
//
// Thread-safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spelling_index.h"

namespace gannet {

struct WordSketch {
  // `word` is UTF-8.
  explicit WordSketch(std::string_view word);

  uint32_t length = 0;      // characters
  uint64_t characters = 0;  // bit (code point mod 64)
};

class SpellingSketches {
 public:
  // Any word may have a term near it.
  SpellingSketches() = default;
  // Error(kDamaged) as the index.
  explicit SpellingSketches(const SpellingIndex& index);

  // False where no term is within so many edits of the word. `edits` is at most kSpellingEditsMax.
  bool MayHaveNear(const WordSketch& word, uint32_t edits) const;

 private:
  bool is_known_ = false;
  // Sets of the terms' characters, by length; those of one length from begins_[length] on.
  std::vector<uint64_t> characters_;
  std::array<uint32_t, kSpellingCharactersMax + 2> begins_{};
};

}  // namespace gannet
