// Converts text to index terms: Unicode word segmentation (UAX 29) and folding (NFKC, case, diacritics).
//
// A pure function of its input: the tables are compiled in, so an index never depends on the Unicode version of the
// Node.js that runs it. The caller segments scripts without spaces (Thai, Han, kana, ...) by inserting U+200B (zero
// width space) after each word; U+200B always separates.
//
// Words are those of UAX 29 (where a full stop, apostrophe or colon between letters does not separate) that contain a
// letter, number, ideograph or emoji; in addition, as in ICU, Hangul does not join other scripts. A run of Han and kana
// with U+200B on at least one side is one word, because the caller has segmented it; any other is cut by UAX 29: one
// word per character, except for katakana. An unsegmented run of Thai, Lao, Khmer or Myanmar is one word.
//
// Folding: NFKC, full case folding, removal of diacritics (marks of Indic scripts and the kana voicing marks are not
// diacritics, nor is the mark of й), decimal digits of every script to ASCII, typographic apostrophes to '. Letters
// without a decomposition become what people type instead (generate-unicode-tables.mjs lists them). Skin tones, joiners
// and variation selectors are dropped. Apostrophes and underscores at either end of a word are not part of its term.
// Folding a term again changes nothing.
//
// Thread-safety: an Analyzer has scratch buffers; use one per thread.
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
  bool may_have_parts;    // false: WordParts need not examine it (word_parts.h)
};

class Analyzer {
 public:
  // Starts over with `text`, which must stay valid and be shorter than 4 GiB. Ill-formed UTF-8 is read as U+FFFD and
  // never fails.
  void Reset(std::string_view text);
  // Returns false at the end of the text.
  bool Next(Token* token);

 private:
  // Returns the end of the word that begins at `offset` (UAX 29, rules WB3c to WB16).
  size_t FindWordEnd(size_t offset) const;
  // Returns the end of the segmented run of Han and kana that begins at `offset`; 0 if it is not segmented.
  size_t FindSegmentedEnd(size_t offset);
  // Folds [begin, end) of the text into term_ and trims it; the result may be empty.
  std::string_view Fold(size_t begin, size_t end);

  std::string_view text_;
  size_t offset_ = 0;
  size_t unsegmented_until_ = 0;  // an unsegmented run of Han and kana ends here
  uint32_t position_ = 0;
  std::string term_;
};

// Returns the key under which a term is stored: the term itself, or prefix + NUL + hash if it is longer than
// kTermBytesMax. Writes to `scratch` only in the latter case. The hash is MurmurHash3 x64 128 (Austin Appleby, 2011)
// with seed 0 over the whole term, as 32 hexadecimal digits; the prefix ends between characters.
std::string_view TermKey(std::string_view term, std::string* scratch);
// Returns true if a stored key is the term itself.
bool IsWholeTerm(std::string_view key);

// Returns true if the text contains a script that is written without spaces, so that the caller must segment it.
bool NeedsDictionarySegmentation(std::string_view text);

}  // namespace gannet
