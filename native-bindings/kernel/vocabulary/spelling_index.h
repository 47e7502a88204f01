// The terms of a segment that a misspelt word may stand for, in two orders: by their bytes, and by their bytes read
// backwards. Stored in the segment (docs/formats.md, 'V'): about 16 bytes per term.
//
// Look-up. A word is cut in two. Of the edits between the word and a term, either few lie before the cut or none behind
// it. So each order is walked like a trie: once forwards with at most (edits - 1) edits in the first part, and once
// backwards with none in the last part (Mihov and Schulz 2004, "Fast Approximate Search in Large Dictionaries"). The
// states that are still possible are kept as bits, one bit per position in the word and one integer per number of edits
// (Wu and Manber 1992, with transpositions), so a step over a character takes a few instructions.
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
// Characters of a word or term: a shorter one could be anything, a longer one is nothing that somebody types.
inline constexpr uint32_t kSpellingCharactersMin = 2;
inline constexpr uint32_t kSpellingCharactersMax = 40;

// Returns true if a term belongs into the index: it has a suitable length, no digit, and no signs.
bool IsSpellable(std::string_view term);

struct SpellingMatch {
  uint32_t term;      // number in the index
  uint32_t distance;  // edits; a transposition is one, and no part is edited twice (optimal string alignment)
};

class SpellingIndex {
 public:
  SpellingIndex() = default;
  // `text`, `offsets` and `backwards` are the parts as SpellingIndexWriter makes them. Throws Error(kDamaged) if their
  // sizes do not fit; their contents are checked on use.
  SpellingIndex(std::span<const uint8_t> text, std::span<const uint32_t> offsets, std::span<const uint32_t> backwards);

  uint32_t size() const { return static_cast<uint32_t>(backwards_.size()); }
  // Throws Error(kDamaged).
  std::string_view term(uint32_t number) const;
  // Return the term, or its number, at a place of the order by bytes read backwards.
  std::string_view backward_term(uint32_t place) const;
  uint32_t backward_number(uint32_t place) const;

  // Returns every term within `edits` (1 to kSpellingEditsMax) of the word, the word itself included, sorted by number.
  // Returns none for a word that is not spellable.
  std::vector<SpellingMatch> Find(std::string_view word, uint32_t edits) const;
  // As Find, but only among a few terms, given by their numbers. Throws Error(kDamaged) if there is no such term.
  std::vector<SpellingMatch> FindAmong(std::span<const uint32_t> terms, std::string_view word, uint32_t edits) const;

 private:
  std::string_view text_;
  std::span<const uint32_t> offsets_;    // size + 1
  std::span<const uint32_t> backwards_;  // numbers of terms
};

// Collects terms in byte order and lays out the parts.
class SpellingIndexWriter {
 public:
  // Leaves out terms that are not spellable.
  void Add(std::string_view term);

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
