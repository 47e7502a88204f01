// Finds the few terms of a small dictionary that a misspelt word may stand for, without walking through its spelling
// index.
//
// A sketch of a word is its length and the set of its characters, once and more than once, folded to 32. An edit that
// replaces a character changes at most two of these bits; one that adds or drops a character changes one bit and the
// length. So a term can be within some number of edits of a word only if their sketches are. Comparing two sketches
// takes a few instructions. A list that is written to has a handful of small segments, which are new after every few
// commits and are then asked for every word again.
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
  uint64_t characters = 0;  // bit (code point mod 32); 32 bits above, if there are several of these
};

class SpellingSketches {
 public:
  // Makes sketches of no dictionary (is_known() is false).
  SpellingSketches() = default;
  // Throws Error(kDamaged) as the index does.
  explicit SpellingSketches(const SpellingIndex& index);

  bool is_known() const { return is_known_; }
  // Appends the numbers of all terms within `edits` <= kSpellingEditsMax edits of the word, and of few others.
  void FindNear(const WordSketch& word, uint32_t edits, std::vector<uint32_t>* terms) const;

 private:
  bool is_known_ = false;
  // The terms by length: those of one length begin at begins_[length], in the order of their numbers.
  std::vector<uint64_t> characters_;
  std::vector<uint32_t> numbers_;
  std::array<uint32_t, kSpellingCharactersMax + 2> begins_{};
};

}  // namespace gannet
