// The terms of a segment that a misspelt word may stand for, in two orders: by their bytes, and by their bytes read
// backwards. Stored in the segment (docs/formats.md, 'V'): about 16 bytes a term.
//
// Look-up. A word is cut in two; of the edits between it and a term, either few lie before the cut or none behind it.
// So terms are walked as if each order were a trie, once forwards with at most (edits - 1) in the first part, once
// backwards with none in the last (Mihov and Schulz 2004, "Fast Approximate Search in Large Dictionaries"). What may
// still follow is kept as bits, one position of the word each and one word per number of edits (Wu and Manber 1992,
// with transpositions), so a step over a character is a few instructions.
//
// Measured on 150,000 words of arXiv papers against the alternatives: docs/decisions/0012-typo-candidates.md.
//
// Thread-safety: immutable; any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gannet {

inline constexpr uint32_t kSpellingEditsMax = 2;
// Characters of a word or term: less can be anything, more is no word that somebody types.
inline constexpr uint32_t kSpellingCharactersMin = 2;
inline constexpr uint32_t kSpellingCharactersMax = 40;

// Whether a term belongs into the index: its length, and no digit.
bool IsSpellable(std::string_view term);

struct SpellingMatch {
  uint32_t term;      // number in the index
  uint32_t distance;  // edits, a transposition being one and no part edited twice (optimal string alignment)
};

class SpellingIndex {
 public:
  SpellingIndex() = default;
  // Parts as SpellingIndexWriter makes them. Error(kDamaged) where their sizes do not fit; what is in them is checked
  // when it is used.
  SpellingIndex(std::span<const uint8_t> text, std::span<const uint32_t> offsets, std::span<const uint32_t> backwards);

  uint32_t size() const { return static_cast<uint32_t>(backwards_.size()); }
  // Error(kDamaged).
  std::string_view term(uint32_t number) const;
  // The term at a place of the order by bytes read backwards.
  std::string_view backward_term(uint32_t place) const;
  uint32_t backward_number(uint32_t place) const;

  // Every term within `edits` (1 to kSpellingEditsMax) of the word, the word itself included, by number. None for a word
  // that is not spellable.
  std::vector<SpellingMatch> Find(std::string_view word, uint32_t edits) const;
  // Those of some terms alone, which are given by their numbers: for a few of them. Error(kDamaged) where there is no such term.
  std::vector<SpellingMatch> FindAmong(std::span<const uint32_t> terms, std::string_view word, uint32_t edits) const;

 private:
  std::string_view text_;
  std::span<const uint32_t> offsets_;    // size + 1
  std::span<const uint32_t> backwards_;  // numbers of terms
};

// Collects terms in byte order and lays out the parts.
class SpellingIndexWriter {
 public:
  void Add(std::string_view term);  // those that are not spellable are left out

  bool empty() const { return offsets_.size() == 1; }
  std::string_view text() const { return text_; }
  const std::vector<uint32_t>& offsets() const { return offsets_; }
  std::string_view term(uint32_t number) const {
    return std::string_view(text_).substr(offsets_[number], offsets_[number + 1] - offsets_[number]);
  }
  std::vector<uint32_t> Backwards() const;

 private:
  std::string text_;
  std::vector<uint32_t> offsets_ = {0};
};

}  // namespace gannet
