// Finds the few terms of a small dictionary that a misspelt word may stand for, without a walk through its spelling index.
//
// A sketch of a word is its length and which characters it has, once and more than once, folded to 32. An edit that replaces a
// character changes two of these bits at the most, one that adds or drops a character one bit and the length: so a term can only be
// within some edits of a word if their sketches are within as much. Comparing two is a few instructions, and a list has a handful of
// small segments beside writes, each of which is new after a few commits and asked for every word anew.
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
  uint64_t characters = 0;  // bit (code point mod 32), and 32 bits above it where there are several of these
};

class SpellingSketches {
 public:
  // Of no dictionary.
  SpellingSketches() = default;
  // Error(kDamaged) as the index.
  explicit SpellingSketches(const SpellingIndex& index);

  bool is_known() const { return is_known_; }
  // Appends the numbers of all terms within so many edits of the word, and of few others. `edits` is at most kSpellingEditsMax.
  void FindNear(const WordSketch& word, uint32_t edits, std::vector<uint32_t>* terms) const;

 private:
  bool is_known_ = false;
  // Of the terms, by length; those of one length from begins_[length] on, in the order of their numbers.
  std::vector<uint64_t> characters_;
  std::vector<uint32_t> numbers_;
  std::array<uint32_t, kSpellingCharactersMax + 2> begins_{};
};

}  // namespace gannet
