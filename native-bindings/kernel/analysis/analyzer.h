// Text to index terms: Unicode word segmentation (UAX 29) and folding (NFKC, case, diacritics).
//
// A pure function of its input: the tables are compiled in, so an index never depends on the Unicode
// version of the Node.js that runs it. Scripts without spaces (Thai, Han, kana, ...) are segmented by
// the caller, which puts U+200B (zero width space) behind each of their words; U+200B always separates.
//
// What is a word: UAX 29 (where a full stop, apostrophe or colon between letters parts no word), as far as it holds a
// letter, number, ideograph or emoji, and with ICU's addition that Hangul joins no other script. A run of Han and kana
// with U+200B on at least one side is one word, for the caller has segmented it; any other is cut by UAX 29: a word a
// character but for katakana. A run of Thai, Lao, Khmer or Myanmar that nobody segmented is one word.
//
// Folding: NFKC, full case folding, no diacritics (marks of Indic scripts and the kana voicing marks are no
// diacritics, nor is the mark of й), decimal digits of every script to ASCII, typographic apostrophes to '. Letters without decomposition
// go to what people type instead (generate-unicode-tables.mjs lists them). Skin tones, joiners and variation selectors
// are dropped. Apostrophes and underscores at the ends of a word are no part of its term. Folding a term again
// changes nothing.
//
// Thread-safety: an Analyzer has scratch buffers, one per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

struct Token {
  std::string_view term;  // folded UTF-8, valid until the next call of Next
  uint32_t begin;         // byte range of the surface form in the input
  uint32_t end;
  uint32_t position;      // ordinal of the word in the text, from 0
  bool may_have_parts;    // worth a look by WordParts (word_parts.h)
};

class Analyzer {
 public:
  // Starts over with `text`, which must stay alive and be shorter than 4 GiB. Ill-formed UTF-8 is read as U+FFFD and
  // never fails.
  void Reset(std::string_view text);
  // False at the end of the text.
  bool Next(Token* token);

 private:
  // Where the word that begins at `offset` ends (UAX 29, rules WB3c to WB16).
  size_t FindWordEnd(size_t offset) const;
  // End of the segmented run of Han and kana that begins at `offset`; 0 if it is not segmented.
  size_t FindSegmentedEnd(size_t offset);
  // Folds [begin, end) of the text into term_ and trims it; the result may be empty.
  std::string_view Fold(size_t begin, size_t end);

  std::string_view text_;
  size_t offset_ = 0;
  size_t unsegmented_until_ = 0;  // a run of Han and kana that ends here is known not to be segmented
  uint32_t position_ = 0;
  std::string term_;
};

// The key under which a term is stored: the term itself, or prefix + NUL + hash when it is longer than
// kTermBytesMax. Writes into `scratch` only in the second case. The hash is MurmurHash3 x64 128 (Austin Appleby,
// 2011) with seed 0 over the whole term, 32 hexadecimal digits; the prefix is cut between characters.
std::string_view TermKey(std::string_view term, std::string* scratch);
// Whether a stored key is the term itself.
bool IsWholeTerm(std::string_view key);

// True where the text holds a script that is written without spaces, so that the caller has to segment it.
bool NeedsDictionarySegmentation(std::string_view text);

}  // namespace gannet
