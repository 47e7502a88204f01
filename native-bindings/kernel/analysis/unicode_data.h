// Properties of a character for the analyzer: its word class and its folding. The tables are in unicode_tables.inc.
//
// Thread-safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

// Word_Break of UAX 29, with Extend and Format as one class. Numbered as in generate-unicode-tables.mjs.
enum class WordClass : uint8_t {
  kOther, kExtend, kZeroWidthJoiner, kLetter, kHebrewLetter, kNumeric, kKatakana,
  kIdeograph,  // Han, hiragana and the like: one word per character unless segmented
  kComplex,    // letters of Thai, Lao, Khmer, Myanmar and the like: a run is one word unless segmented
  kExtendNumLet, kMidLetter, kMidNum, kMidNumLet, kSingleQuote, kDoubleQuote, kRegionalIndicator, kPictographic,
  kHangul,  // joins only itself, as in ICU
};

// Returns true for what belongs to the character before it: a combining mark, a formatting character or a joiner.
inline bool IsMark(WordClass word_class) {
  return word_class == WordClass::kExtend || word_class == WordClass::kZeroWidthJoiner;
}

struct CharacterTraits {
  uint8_t bits;

  WordClass word_class() const { return static_cast<WordClass>(bits & 0x1f); }
  bool is_word() const { return bits & 0x20; }         // a letter, number, ideograph or emoji
  bool is_dictionary() const { return bits & 0x40; }   // of a script that only a dictionary can cut into words
  bool may_compose() const { return bits & 0x80; }     // its folding needs ComposeFolded
};

CharacterTraits TraitsOf(uint32_t code);

// Appends the folding of `code`, which may be empty.
void AppendFolded(uint32_t code, std::string* out);

// Applies canonical ordering and composition (NFC) to the output of AppendFolded, for the marks that folding keeps.
void ComposeFolded(std::string* text);

// Version of the Unicode standard that the tables come from, as in "17.0".
std::string_view UnicodeVersion();

}  // namespace gannet
