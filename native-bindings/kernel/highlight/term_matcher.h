// Finds the words of a text that a query matched.
//
// Thread-safety: immutable after construction; Find may run in several threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../analysis/signed_words.h"
#include "../analysis/word_parts.h"
#include "highlighter.h"

namespace gannet {

// Of a long text, at most this many bytes are read after the first match.
inline constexpr size_t kHighlightScanBytesMax = 256u << 10;

struct WordMatch {
  uint32_t begin;  // byte range of the word
  uint32_t end;
  uint32_t id;     // the same for every occurrence of a term, or of a place in a phrase
};

class TermMatcher {
 public:
  // The texts of the terms must outlive the matcher.
  explicit TermMatcher(const HighlightTerms& terms);
  TermMatcher(const TermMatcher&) = delete;
  TermMatcher& operator=(const TermMatcher&) = delete;

  // Returns the matches in text order, without overlap: a word takes precedence over its parts, and one with its signs
  // over the word alone.
  std::vector<WordMatch> Find(std::string_view text) const;

 private:
  struct PhraseWord {
    uint32_t word;
    uint32_t position;
    uint32_t begin;
    uint32_t end;
  };
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Known {
    uint32_t term = kNone;         // id if the word counts by itself
    uint32_t phrase_word = kNone;  // id if the word belongs to some phrase
  };

  // Matches of one text. Words of a phrase may be neighbours as whole words, as pieces between marks, or as parts
  // between capitals.
  struct Found {
    std::vector<WordMatch> matches;
    std::vector<PhraseWord> words;
    std::vector<PhraseWord> signed_words;  // the same, but each word that some phrase has with its signs with these
    std::vector<PhraseWord> pieces;
    std::vector<PhraseWord> parts;
    uint32_t places = 0;  // number of places that parts take so far
    bool overlap = false;  // a word matched with its signs, and perhaps also without
  };

  // Returns null for a word that the query does not have.
  const Known* FindKnown(std::string_view term) const;
  void AddWord(const Token& token, const SignedWord& with_signs, Found* found) const;
  void AddParts(std::string_view text, const Token& token, WordParts* parts, Found* found) const;
  void AddPhraseMatches(const std::vector<PhraseWord>& words, std::vector<WordMatch>* matches) const;
  // Hashes length and ends only: most words of a text are in no query, and this spares hashing them completely.
  static size_t Bucket(std::string_view term);

  // Room for the words of most queries: a matcher lives for one answer.
  std::array<std::byte, 8192> memory_;
  std::pmr::monotonic_buffer_resource resource_{memory_.data(), memory_.size()};
  std::pmr::unordered_map<std::string_view, Known> known_{&resource_};
  std::array<bool, 1024> buckets_{};
  std::vector<std::vector<uint32_t>> phrases_;  // indexes of phrase words
  uint32_t term_count_ = 0;
};

}  // namespace gannet
