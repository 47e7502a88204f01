#include "analyzer.h"

#include <array>
#include <cstring>

#include "unicode_data.h"
#include "utf8.h"

namespace gannet {
namespace {

constexpr std::string_view kZeroWidthSpace = "\xe2\x80\x8b";

// й is a letter of its own, and the only one that keeps a mark which folding drops elsewhere.
constexpr uint32_t kCombiningBreve = 0x306;
constexpr std::string_view kSmallI = "\xd0\xb8";
constexpr std::string_view kSmallShortI = "\xd0\xb9";

// Kinds of bytes, for the fast path. A byte with no bit set ends a word and begins none.
enum ByteKind : uint8_t {
  kUpper = 1,
  kLower = 2,
  kDigit = 4,
  kUnderscore = 8,
  kMidAny = 16,      // joins two letters or two digits: '
  kMidNumber = 32,   // joins two digits: , and ;
  kMidLetter = 64,   // joins two letters: the colon; among the kinds of a word: a mark in it joins letters
  kNotAscii = 128,
};
// Joins letters and digits, and separates the parts of a word of letters (word_parts.h).
constexpr uint8_t kFullStop = kMidNumber | kMidLetter;
constexpr uint8_t kAsciiLetter = kUpper | kLower;
constexpr uint8_t kAsciiWord = kUpper | kLower | kDigit | kUnderscore;

constexpr std::array<uint8_t, 256> kByteKinds = [] {
  std::array<uint8_t, 256> kinds{};
  for (int byte = 'A'; byte <= 'Z'; ++byte) kinds[static_cast<size_t>(byte)] = kUpper;
  for (int byte = 'a'; byte <= 'z'; ++byte) kinds[static_cast<size_t>(byte)] = kLower;
  for (int byte = '0'; byte <= '9'; ++byte) kinds[static_cast<size_t>(byte)] = kDigit;
  for (size_t byte = 0x80; byte < 0x100; ++byte) kinds[byte] = kNotAscii;
  kinds['_'] = kUnderscore;
  kinds['.'] = kFullStop;
  kinds['\''] = kMidAny;
  kinds[','] = kinds[';'] = kMidNumber;
  kinds[':'] = kMidLetter;
  return kinds;
}();

uint8_t KindOf(char byte) { return kByteKinds[static_cast<uint8_t>(byte)]; }

struct AsciiWord {
  size_t end;     // 0 if the word has a character beyond ASCII, or may join one
  uint8_t kinds;  // union of the kinds of its bytes
};

AsciiWord ScanAsciiWord(std::string_view text, size_t begin) {
  size_t at = begin;
  uint8_t kinds = 0;
  while (at < text.size()) {
    const uint8_t kind = KindOf(text[at]);
    if (kind & kAsciiWord) {
      kinds |= kind;
      ++at;
      continue;
    }
    if (kind == kNotAscii) return {0, 0};
    if (kind == 0 || at + 1 == text.size()) break;
    const uint8_t next = KindOf(text[at + 1]);
    if (next == kNotAscii) return {0, 0};
    const uint8_t previous = KindOf(text[at - 1]);
    const bool joins_letters = kind != kMidNumber && (previous & kAsciiLetter) && (next & kAsciiLetter);
    const bool joins_digits = kind != kMidLetter && (previous & kDigit) && (next & kDigit);
    if (!joins_letters && !joins_digits) break;
    kinds |= next;
    if (joins_letters && kind != kMidAny) kinds |= kMidLetter;
    at += 2;
  }
  return {at, kinds};
}

// Trims apostrophes and low lines, which folding may leave at either end: they quote or emphasise, and belong to no
// word.
std::string_view TrimTerm(std::string_view term) {
  const auto trims = [](char byte) { return byte == '\'' || byte == '_'; };
  while (!term.empty() && trims(term.front())) term.remove_prefix(1);
  while (!term.empty() && trims(term.back())) term.remove_suffix(1);
  return term;
}

bool IsLetter(WordClass word_class) {
  return word_class == WordClass::kLetter || word_class == WordClass::kHebrewLetter;
}

// WB5, WB8 to WB10, WB13 to WB13b: returns true for classes that are never separated if they are adjacent.
bool Joins(WordClass left, WordClass right) {
  const auto alphanumeric = [](WordClass one) { return IsLetter(one) || one == WordClass::kNumeric; };
  if (alphanumeric(left) && alphanumeric(right)) return true;
  const auto takes_low_line = [&](WordClass one) {
    return alphanumeric(one) || one == WordClass::kKatakana || one == WordClass::kExtendNumLet;
  };
  if (right == WordClass::kExtendNumLet) return takes_low_line(left);
  if (left == WordClass::kExtendNumLet) return takes_low_line(right);
  return left == right &&
         (left == WordClass::kKatakana || left == WordClass::kComplex || left == WordClass::kHangul);
}

}  // namespace

void Analyzer::Reset(std::string_view text) {
  text_ = text;
  offset_ = 0;
  unsegmented_until_ = 0;
  position_ = 0;
}

bool Analyzer::Next(Token* token) {
  while (offset_ < text_.size()) {
    const size_t begin = offset_;
    const uint8_t first = KindOf(text_[begin]);
    size_t end = 0;
    bool may_have_parts = false;
    std::string_view term;
    if (first & kAsciiWord) {
      const AsciiWord word = ScanAsciiWord(text_, begin);
      end = word.end;
      if (end != 0) {
        term = text_.substr(begin, end - begin);
        may_have_parts = word.kinds & (kUnderscore | kMidLetter);
        if (word.kinds & kUpper) {
          term_.assign(term);
          uint8_t previous = 0;
          for (char& byte : term_) {
            const uint8_t kind = KindOf(byte);
            may_have_parts |= kind == kUpper && previous == kLower;
            previous = kind;
            if (kind == kUpper) byte = static_cast<char>(byte | 0x20);
          }
          term = term_;
        }
        if (word.kinds & kUnderscore) term = TrimTerm(term);
      }
    } else if (first != kNotAscii) {
      ++offset_;
      continue;
    }
    if (end == 0) {
      const auto [code, length] = DecodeUtf8(text_.data() + begin, text_.size() - begin);
      const CharacterTraits traits = TraitsOf(code);
      const WordClass word_class = traits.word_class();
      if (!traits.is_word() && word_class != WordClass::kExtendNumLet) {
        offset_ = begin + length;
        continue;
      }
      if (word_class == WordClass::kIdeograph || word_class == WordClass::kKatakana) end = FindSegmentedEnd(begin);
      if (end == 0) end = FindWordEnd(begin);
      term = Fold(begin, end);
      may_have_parts = term.find_first_of("._:") != std::string_view::npos;
    }
    offset_ = end;
    if (term.empty()) continue;
    *token = {term, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), position_++, may_have_parts};
    return true;
  }
  return false;
}

size_t Analyzer::FindSegmentedEnd(size_t offset) {
  if (offset < unsegmented_until_) return 0;
  size_t end = offset;
  while (end < text_.size()) {
    const auto [code, length] = DecodeUtf8(text_.data() + end, text_.size() - end);
    const WordClass word_class = TraitsOf(code).word_class();
    if (word_class != WordClass::kIdeograph && word_class != WordClass::kKatakana && !IsMark(word_class)) break;
    end += length;
  }
  if (text_.substr(0, offset).ends_with(kZeroWidthSpace) || text_.substr(end).starts_with(kZeroWidthSpace)) return end;
  unsegmented_until_ = end;
  return 0;
}

size_t Analyzer::FindWordEnd(size_t offset) const {
  struct Character {
    WordClass word_class;
    size_t end;
  };
  const auto decode = [this](size_t at) -> Character {
    if (at >= text_.size()) return {WordClass::kOther, at};
    const auto [code, length] = DecodeUtf8(text_.data() + at, text_.size() - at);
    return {TraitsOf(code).word_class(), at + length};
  };
  // Decodes the next character that is not a mark: WB4 skips marks.
  const auto decode_past_marks = [&decode](size_t at) {
    Character next = decode(at);
    while (IsMark(next.word_class)) next = decode(next.end);
    return next;
  };

  Character last = decode(offset);
  size_t end = last.end;
  WordClass previous = last.word_class;
  bool after_joiner = false;
  bool pairs_indicator = previous == WordClass::kRegionalIndicator;
  while (end < text_.size()) {
    const Character next = decode(end);
    const WordClass here = next.word_class;
    if (IsMark(here)) {
      after_joiner = here == WordClass::kZeroWidthJoiner;
      end = next.end;
      continue;
    }
    const bool joins_picture = after_joiner && here == WordClass::kPictographic;           // WB3c
    const bool joins_indicator = pairs_indicator && here == WordClass::kRegionalIndicator;  // WB15, WB16
    after_joiner = false;
    if (joins_picture || joins_indicator || Joins(previous, here)) {
      pairs_indicator = false;
      previous = here;
      end = next.end;
      continue;
    }
    const bool mid_any = here == WordClass::kMidNumLet || here == WordClass::kSingleQuote;
    if (IsLetter(previous) && (mid_any || here == WordClass::kMidLetter)) {  // WB6, WB7
      const Character after = decode_past_marks(next.end);
      if (IsLetter(after.word_class)) {
        previous = after.word_class;
        end = after.end;
        continue;
      }
    }
    if (previous == WordClass::kNumeric && (mid_any || here == WordClass::kMidNum)) {  // WB11, WB12
      const Character after = decode_past_marks(next.end);
      if (after.word_class == WordClass::kNumeric) {
        end = after.end;
        continue;
      }
    }
    if (previous == WordClass::kHebrewLetter && here == WordClass::kDoubleQuote) {  // WB7b, WB7c
      const Character after = decode_past_marks(next.end);
      if (after.word_class == WordClass::kHebrewLetter) {
        end = after.end;
        continue;
      }
    }
    if (previous == WordClass::kHebrewLetter && here == WordClass::kSingleQuote) {  // WB7a
      previous = WordClass::kOther;
      end = next.end;
      continue;
    }
    break;
  }
  return end;
}

std::string_view Analyzer::Fold(size_t begin, size_t end) {
  term_.clear();
  bool composes = false;
  bool is_word = false;
  for (size_t at = begin; at < end;) {
    const auto [code, length] = DecodeUtf8(text_.data() + at, end - at);
    const CharacterTraits traits = TraitsOf(code);
    if (code == kCombiningBreve && term_.ends_with(kSmallI)) {
      term_.replace(term_.size() - kSmallI.size(), kSmallI.size(), kSmallShortI);  // й in two parts
    } else {
      AppendFolded(code, &term_);
    }
    composes |= traits.may_compose();
    is_word |= traits.is_word();
    at += length;
  }
  if (!is_word) return {};  // only low lines and marks
  if (composes) ComposeFolded(&term_);
  return TrimTerm(term_);
}

bool NeedsDictionarySegmentation(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= sizeof(uint64_t)) {  // eight ASCII bytes at a time
      uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const auto [code, length] = DecodeUtf8(text.data() + at, text.size() - at);
    // All scripts without spaces are at or above Thai.
    if (code >= 0xe00 && TraitsOf(code).is_dictionary()) return true;
    at += length;
  }
  return false;
}

}  // namespace gannet
