// Text to index terms: Unicode word segmentation (UAX 29) and folding (NFKC, case, diacritics).
//
// A pure function of its input: the tables are compiled in, so an index never depends on the Unicode
// version of the Node.js that runs it. Scripts without spaces (Thai, Han, kana, ...) are segmented by
// the caller, which puts U+200B (zero width space) at the word boundaries; U+200B always separates words.
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
};

class Analyzer {
 public:
  // Starts over with `text`, which must stay alive. Ill-formed UTF-8 is read as U+FFFD and never fails.
  void Reset(std::string_view text);
  // False at the end of the text.
  bool Next(Token* token);

 private:
  std::string_view text_;
  size_t offset_ = 0;
  uint32_t position_ = 0;
  std::string term_;
};

// The key under which a term is stored: the term itself, or prefix + NUL + hash when it is longer than
// kTermBytesMax. Writes into `scratch` only in the second case.
std::string_view TermKey(std::string_view term, std::string* scratch);

// True where the text holds a script that is written without spaces, so that the caller has to segment it.
bool NeedsDictionarySegmentation(std::string_view text);

}  // namespace gannet
