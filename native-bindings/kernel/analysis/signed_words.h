// Finds the signs beside a word that make it another word: C# and C++ are not C, nor is .NET a net.
//
// A word may be followed by #, + or ++ (C#, A+, Notepad++), or preceded by a full stop, # or @ (.NET, #tag, @name).
// Signs of full width count, too, and the musical sharp as #. What a sign stands between belongs to neither: a+b,
// page#5 and jane@example have none; but C++11 has, since a digit behind a single letter is a version. An entity such
// as &#39; has none, either.
//
// The signed term is indexed at the position of the word, in addition to it. So it is part of phrases, and no other
// word's score changes.
//
// Thread-safety: an object has a scratch buffer; use one per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer.h"

namespace gannet {

struct SignedWord {
  std::string_view term;  // empty if the word has no signs; valid until the next call of Find
  uint32_t begin;         // byte range in the text, with the signs
  uint32_t end;
};

class SignedWords {
 public:
  // Returns the token of `text` with its signs; an empty term if it has none.
  SignedWord Find(std::string_view text, const Token& token) {
    // Nearly all words stand between other bytes.
    const auto behind = static_cast<uint8_t>(token.end < text.size() ? text[token.end] : ' ');
    const auto before = static_cast<uint8_t>(token.begin > 0 ? text[token.begin - 1] : ' ');
    const bool may_have_signs = ((behind | before) & 0x80) != 0 || behind == '#' || behind == '+' || before == '#' ||
                                before == '@' || before == '.';
    return may_have_signs ? FindSigns(text, token) : SignedWord{};
  }

 private:
  SignedWord FindSigns(std::string_view text, const Token& token);

  std::string term_;
};

// Returns true for a term with signs. It has no stem, and is no typo of another word.
bool IsSigned(std::string_view term);

}  // namespace gannet
