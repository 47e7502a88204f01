#include "word_parts.h"

#include <string>

#include "unicode_data.h"
#include "utf8.h"

namespace gannet {
namespace {

// A longer run of letters is not an identifier.
constexpr uint32_t kCapitalsBytesMax = 64;
constexpr size_t kPartsOfNames = 3;
constexpr uint32_t kFirstLettersMin = 3;

bool IsUpper(char byte) { return byte >= 'A' && byte <= 'Z'; }
bool IsLower(char byte) { return byte >= 'a' && byte <= 'z'; }

// Returns true for these marks, also of full width, and for characters that fold to one of them.
bool IsMark(uint32_t code, std::string* folded) {
  if (code < 0x80) return code == '.' || code == ':' || code == '_';
  folded->clear();
  AppendFolded(code, folded);
  return *folded == "." || *folded == ":" || *folded == "_";
}

}  // namespace

uint32_t WordParts::Cut(std::string_view text, const Token& token) {
  ranges_.clear();
  if (!token.may_have_parts) return 0;
  CutAtMarks(text, token.begin, token.end);
  uint32_t place = 0;
  for (const Range& piece : pieces_) {
    // A word without marks is indexed as a whole already.
    const bool is_found_whole = pieces_.size() == 1;
    const size_t at = ranges_.size();
    if (!is_found_whole) ranges_.push_back({piece.begin, piece.end, place, true, true});
    const uint32_t places = CutAtCapitals(text, piece.begin, piece.end, place);
    if (!is_found_whole && places > 1) ranges_[at].is_finest = false;
    place += places;
  }
  return ranges_.empty() ? 0 : place;
}

void WordParts::CutAtMarks(std::string_view text, uint32_t begin, uint32_t end) {
  pieces_.clear();
  std::string folded;
  uint32_t piece = begin;
  bool after_digit = false;
  for (uint32_t at = begin; at < end;) {
    const auto [code, length] = DecodeUtf8(text.data() + at, end - at);
    const WordClass word_class = TraitsOf(code).word_class();
    // Between digits, only low lines separate: UAX 29 allows a full stop between two letters or two digits.
    if (IsMark(code, &folded) && (word_class == WordClass::kExtendNumLet || !after_digit)) {
      if (at > piece) pieces_.push_back({piece, at, 0, true, true});
      piece = at + length;
    }
    if (word_class != WordClass::kExtend) after_digit = word_class == WordClass::kNumeric;
    at += length;
  }
  if (end > piece) pieces_.push_back({piece, end, 0, true, true});
}

uint32_t WordParts::CutAtCapitals(std::string_view text, uint32_t begin, uint32_t end, uint32_t place) {
  if (end - begin > kCapitalsBytesMax) return 1;
  ends_.clear();
  uint32_t last = begin;
  for (uint32_t at = begin; at < end; ++at) {
    const char byte = text[at];
    if (!IsUpper(byte) && !IsLower(byte)) return 1;
    if (at == begin || !IsUpper(byte)) continue;
    const bool after_small = IsLower(text[at - 1]);
    // The last of several capitals begins a word: XML, Parser. A single small letter after them is an ending: RNAs.
    const bool before_word = at + 2 < end && IsLower(text[at + 1]) && IsLower(text[at + 2]);
    if (!after_small && !before_word) continue;
    if (at - begin < kFirstLettersMin) continue;
    if (at - last < 2) return 1;
    ends_.push_back(at);
    last = at;
  }
  if (ends_.empty() || end - last < 2) return 1;
  if (IsUpper(text[begin]) && ends_.size() + 1 < kPartsOfNames) return 1;
  ends_.push_back(end);
  uint32_t part = begin;
  for (const uint32_t part_end : ends_) {
    ranges_.push_back({part, part_end, place++, false, true});
    part = part_end;
  }
  return static_cast<uint32_t>(ends_.size());
}

bool WordParts::IsWorthFinding(std::string_view term) {
  if (term.size() == 1) return term.front() >= '0' && term.front() <= '9';
  return CountCharacters(term) > 1;
}

}  // namespace gannet
