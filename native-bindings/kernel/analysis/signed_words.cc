#include "signed_words.h"

#include <array>
#include <utility>

#include "unicode_data.h"
#include "utf8.h"

namespace gannet {
namespace {

// What stands before a sign that precedes a word, if that belongs to something else: to another sign, or to code.
constexpr std::string_view kNotBeforeSigns = "#@+.)]}&";

// A character as it is folded, if it may be a sign; 0 for others.
struct Sign {
  char sign = 0;
  uint32_t bytes = 0;
};

constexpr std::array<std::pair<std::string_view, char>, 5> kWideSigns = {{
    {"\xef\xbc\x83", '#'},  // full width
    {"\xef\xbc\x8b", '+'},
    {"\xef\xbc\x8e", '.'},
    {"\xef\xbc\xa0", '@'},
    {"\xe2\x99\xaf", '#'},  // musical sharp
}};

bool MayFollow(Sign sign) { return sign.sign == '#' || sign.sign == '+'; }
bool MayPrecede(Sign sign) { return sign.sign == '#' || sign.sign == '@' || sign.sign == '.'; }

// Returns the character at `at`, or the one that ends before `end`.
Sign SignAt(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.empty()) return {};
  if (static_cast<uint8_t>(rest.front()) < 0x80) return {rest.front(), 1};
  for (const auto& [bytes, sign] : kWideSigns) {
    if (rest.starts_with(bytes)) return {sign, static_cast<uint32_t>(bytes.size())};
  }
  return {};
}

Sign SignBefore(std::string_view text, size_t end) {
  const std::string_view before = text.substr(0, end);
  if (before.empty()) return {};
  if (static_cast<uint8_t>(before.back()) < 0x80) return {before.back(), 1};
  for (const auto& [bytes, sign] : kWideSigns) {
    if (before.ends_with(bytes)) return {sign, static_cast<uint32_t>(bytes.size())};
  }
  return {};
}

bool IsWordAt(std::string_view text, size_t at) {
  return at < text.size() && TraitsOf(DecodeUtf8(text.data() + at, text.size() - at).code).is_word();
}

// Returns true if a word ends at `end`: with a letter, a number, a low line or the like, and marks behind it.
// Ill-formed bytes are no part of words.
bool IsWordBefore(std::string_view text, size_t end) {
  for (size_t begin = end; begin > 0 && end - begin < 4;) {
    --begin;
    if ((static_cast<uint8_t>(text[begin]) & 0xc0) == 0x80) continue;
    const auto [code, length] = DecodeUtf8(text.data() + begin, end - begin);
    if (length != end - begin) return false;
    const CharacterTraits traits = TraitsOf(code);
    const WordClass word_class = traits.word_class();
    if (IsMark(word_class)) {
      end = begin;
      continue;
    }
    return traits.is_word() || word_class == WordClass::kExtendNumLet;
  }
  return false;
}

bool IsDigitAt(std::string_view text, size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; }

// Returns the end of the signs behind a word that ends at `end`, and appends them to the term; `end` if there are none.
size_t AppendSignsBehind(std::string_view text, size_t end, std::string* term) {
  const Sign first = SignAt(text, end);
  if (!MayFollow(first)) return end;
  size_t behind = end + first.bytes;
  const Sign second = SignAt(text, behind);
  const bool is_double = first.sign == '+' && second.sign == '+';
  if (is_double) behind += second.bytes;
  const Sign next = SignAt(text, behind);
  if (MayFollow(next)) return end;
  const bool may_have_version = term->size() == 1 && (is_double || first.sign == '#');
  if (IsWordAt(text, behind) && !(may_have_version && IsDigitAt(text, behind))) return end;
  term->push_back(first.sign);
  if (is_double) term->push_back(first.sign);
  return behind;
}

bool IsLetter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

// Returns the begin of the sign before a word that begins at `begin`, and puts it before the term; `begin` if there is
// none.
size_t PrependSignBefore(std::string_view text, size_t begin, std::string* term) {
  const Sign sign = SignBefore(text, begin);
  if (!MayPrecede(sign)) return begin;
  if (sign.sign == '.' && !IsLetter(term->front())) return begin;
  const size_t before = begin - sign.bytes;
  const Sign previous = SignBefore(text, before);
  if (previous.sign != 0 && kNotBeforeSigns.find(previous.sign) != std::string_view::npos) return begin;
  if (IsWordBefore(text, before)) return begin;
  term->insert(term->begin(), sign.sign);
  return before;
}

}  // namespace

SignedWord SignedWords::FindSigns(std::string_view text, const Token& token) {
  if (!MayFollow(SignAt(text, token.end)) && !MayPrecede(SignBefore(text, token.begin))) return {};
  term_.assign(token.term);
  const size_t end = AppendSignsBehind(text, token.end, &term_);
  if (end != token.end) return {term_, token.begin, static_cast<uint32_t>(end)};
  const size_t begin = PrependSignBefore(text, token.begin, &term_);
  if (begin != token.begin) return {term_, static_cast<uint32_t>(begin), token.end};
  return {};
}

bool IsSigned(std::string_view term) {
  if (term.size() < 2) return false;
  const char first = term.front();
  const char last = term.back();
  return first == '#' || first == '@' || first == '.' || last == '#' || last == '+';
}

}  // namespace gannet
