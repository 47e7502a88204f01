// What the analyzer knows of a character: its word class and its folding. The tables are in unicode_tables.inc.
//
// Thread-safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

// Word_Break of UAX 29, Extend and Format being one. Numbered as in generate-unicode-tables.mjs.
enum class WordClass : uint8_t {
  kOther, kExtend, kZeroWidthJoiner, kLetter, kHebrewLetter, kNumeric, kKatakana,
  kIdeograph,  // Han, hiragana and the like: one word a character unless segmented
  kComplex,    // letters of Thai, Lao, Khmer, Myanmar and the like: a run is one word unless segmented
  kExtendNumLet, kMidLetter, kMidNum, kMidNumLet, kSingleQuote, kDoubleQuote, kRegionalIndicator, kPictographic,
  kHangul,  // joins nothing but itself, as ICU has it
};

struct CharacterTraits {
  uint8_t bits;

  WordClass word_class() const { return static_cast<WordClass>(bits & 0x1f); }
  bool is_word() const { return bits & 0x20; }         // a letter, number, ideograph or emoji
  bool is_dictionary() const { return bits & 0x40; }   // of a script that only a dictionary cuts into words
  bool may_compose() const { return bits & 0x80; }     // its folding needs ComposeFolded
};

CharacterTraits TraitsOf(uint32_t code);

// Appends the folding of `code`, perhaps nothing.
void AppendFolded(uint32_t code, std::string* out);

// Canonical ordering and composition (NFC) of what AppendFolded wrote, for the marks that folding keeps.
void ComposeFolded(std::string* text);

// Version of the Unicode standard that the tables come from, as in "17.0".
std::string_view UnicodeVersion();

}  // namespace gannet
