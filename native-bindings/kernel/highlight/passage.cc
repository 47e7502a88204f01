#include "passage.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "../analysis/unicode_data.h"
#include "../analysis/utf8.h"

namespace gannet {
namespace {

constexpr uint32_t kZeroWidthSpaceCode = 0x200b;
constexpr std::string_view kCutBefore = "\xe2\x80\xa6 ";  // "… "
constexpr std::string_view kCutBehind = " \xe2\x80\xa6";  // " …"
constexpr uint32_t kCutCharacters = 2;                     // of each

// Returns the number of characters shown: the caller's zero width spaces are not.
uint32_t Shown(uint32_t code) { return code == kZeroWidthSpaceCode ? 0 : 1; }

DecodedCharacter Decode(std::string_view text, size_t at) { return DecodeUtf8(text.data() + at, text.size() - at); }

// Returns the start of the character before `at` (> 0). Ill-formed bytes count as one character each, so there may be a
// character too many but never too few.
size_t StepBack(std::string_view text, size_t at) {
  for (size_t length = 1; length <= 4 && length <= at; ++length) {
    const auto byte = static_cast<uint8_t>(text[at - length]);
    if ((byte & 0xc0) == 0x80) continue;
    return Decode(text, at - length).length == length ? at - length : at - 1;
  }
  return at - 1;
}

bool IsSpace(uint32_t code) {
  return code <= 0x20 || code == 0xa0 || code == 0x3000 || code == kZeroWidthSpaceCode ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029;
}

constexpr bool IsAscii(uint32_t code) { return code < 0x80; }

// Returns true if a passage may begin or end between two characters.
bool IsCut(uint32_t before, uint32_t behind) {
  if (IsAscii(before) && IsAscii(behind)) return before <= 0x20 || behind <= 0x20;
  if (IsSpace(before) || IsSpace(behind)) return true;
  // Unsegmented Han and kana have no spaces, nor is there one after their punctuation.
  const WordClass before_class = TraitsOf(before).word_class();
  const WordClass behind_class = TraitsOf(behind).word_class();
  if (behind_class == WordClass::kExtend || behind_class == WordClass::kZeroWidthJoiner) return false;
  return before_class == WordClass::kIdeograph || behind_class == WordClass::kIdeograph ||
         (before >= 0x3001 && before <= 0x3003);
}

// Returns true if at most `characters_max` characters of the text are shown. A character has at least one byte.
bool HasCharactersAtMost(std::string_view text, uint32_t characters_max) {
  if (text.size() <= characters_max) return true;
  uint32_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = Decode(text, at);
    count += Shown(code);
    if (count > characters_max) return false;
    at += length;
  }
  return true;
}

uint32_t CountCharacters(std::string_view text, size_t begin, size_t end) {
  uint32_t count = 0;
  while (begin < end) {
    const auto [code, length] = Decode(text, begin);
    count += Shown(code);
    begin += length;
  }
  return count;
}

struct Reach {
  size_t at;            // the furthest place in the text where it may be cut
  uint32_t characters;  // number of characters shown up to there
};

// Goes back from `from` by at most `budget` characters.
Reach ReachBack(std::string_view text, size_t from, uint32_t budget) {
  Reach best{from, 0};
  size_t at = from;
  uint32_t count = 0;
  while (at > 0) {
    const size_t previous = StepBack(text, at);
    const uint32_t code = Decode(text, previous).code;
    count += Shown(code);
    if (count > budget) return best;
    at = previous;
    if (at == 0 || IsCut(Decode(text, StepBack(text, at)).code, code)) best = {at, count};
  }
  return best;
}

Reach ReachForward(std::string_view text, size_t from, uint32_t budget) {
  Reach best{from, 0};
  size_t at = from;
  uint32_t count = 0;
  while (at < text.size()) {
    const auto [code, length] = Decode(text, at);
    count += Shown(code);
    if (count > budget) return best;
    at += length;
    if (at == text.size() || IsCut(code, Decode(text, at).code)) best = {at, count};
  }
  return best;
}

// Returns one more than the greatest id. Ids are small: terms and words of phrases are numbered from 0.
size_t IdsEnd(const std::vector<WordMatch>& matches) {
  size_t end = 0;
  for (const WordMatch& match : matches) end = std::max<size_t>(end, match.id + 1u);
  return end;
}

uint32_t CountDistinct(const std::vector<WordMatch>& matches) {
  std::vector<bool> seen(IdsEnd(matches));
  uint32_t count = 0;
  for (const WordMatch& match : matches) {
    count += !seen[match.id];
    seen[match.id] = true;
  }
  return count;
}

// The best matches first..last that fit into `budget` characters; `characters` is their span.
struct Choice {
  size_t first = 0;
  size_t last = 0;
  uint32_t distinct = 0;
  uint32_t matches = 0;
  uint32_t characters = 0;
};

Choice ChooseMatches(std::string_view text, const std::vector<WordMatch>& matches, uint32_t budget) {
  struct Span {
    uint32_t begin;  // in characters from the first match
    uint32_t end;
  };
  std::vector<Span> spans;
  spans.reserve(matches.size());
  uint32_t characters = 0;
  size_t counted_to = matches.front().begin;
  for (const WordMatch& match : matches) {
    const uint32_t begin = characters + CountCharacters(text, counted_to, match.begin);
    characters = begin + CountCharacters(text, match.begin, match.end);
    counted_to = match.end;
    spans.push_back({begin, characters});
  }
  Choice best;
  std::vector<uint32_t> counts(IdsEnd(matches));  // by id, the number of matches in the window
  uint32_t distinct = 0;
  size_t end = 0;  // matches [first, end) are in the window
  for (size_t first = 0; first < matches.size(); ++first) {
    while (end < matches.size() && (end <= first || spans[end].end - spans[first].begin <= budget)) {
      distinct += counts[matches[end].id]++ == 0;
      ++end;
    }
    const Choice choice{first, end - 1, distinct, static_cast<uint32_t>(end - first),
                        spans[end - 1].end - spans[first].begin};
    if (std::tie(choice.distinct, choice.matches) > std::tie(best.distinct, best.matches)) best = choice;
    distinct -= --counts[matches[first].id] == 0;
  }
  return best;
}

// Bytes that need no escaping in HTML.
constexpr std::array<bool, 256> kIsCopied = [] {
  std::array<bool, 256> copied{};
  for (size_t byte = 0; byte < 0x80; ++byte) copied[byte] = true;
  for (const char special : {'&', '<', '>', '"', '\''}) copied[static_cast<size_t>(special)] = false;
  return copied;
}();

void AppendEscaped(std::string_view text, size_t begin, size_t end, std::string* out) {
  while (begin < end) {
    size_t run_end = begin;
    while (run_end < end && kIsCopied[static_cast<uint8_t>(text[run_end])]) ++run_end;
    out->append(text.substr(begin, run_end - begin));
    begin = run_end;
    if (begin == end) return;
    const auto [code, length] = Decode(text, begin);
    begin += length;
    switch (code) {
      case '&': out->append("&amp;"); break;
      case '<': out->append("&lt;"); break;
      case '>': out->append("&gt;"); break;
      case '"': out->append("&quot;"); break;
      case '\'': out->append("&#39;"); break;
      case kZeroWidthSpaceCode: break;
      default: AppendUtf8(code, out);
    }
  }
}

}  // namespace

Passage ChoosePassage(std::string_view text, const std::vector<WordMatch>& matches, uint32_t characters_max) {
  if (HasCharactersAtMost(text, characters_max)) {
    return {0, text.size(), CountDistinct(matches), static_cast<uint32_t>(matches.size())};
  }
  const uint32_t budget = characters_max > 3 * kCutCharacters ? characters_max - 2 * kCutCharacters : 1;
  const Choice choice = ChooseMatches(text, matches, budget);
  Passage passage{matches[choice.first].begin, matches[choice.last].end, choice.distinct, choice.matches};
  if (choice.characters >= budget) {  // no room for more; one very long word may even have to be cut
    uint32_t count = 0;
    size_t at = passage.begin;
    while (at < passage.end) {
      const auto [code, length] = Decode(text, at);
      count += Shown(code);
      if (count > budget) break;
      at += length;
    }
    passage.end = at;
    return passage;
  }
  // Uses half of the room before the matches, what is left of it after them, and what then remains before them.
  const uint32_t room = budget - choice.characters;
  Reach before = ReachBack(text, passage.begin, room / 2);
  const Reach behind = ReachForward(text, passage.end, room - before.characters);
  if (behind.at == text.size()) before = ReachBack(text, passage.begin, room - behind.characters);
  passage.begin = before.at;
  passage.end = behind.at;
  return passage;
}

std::string MarkPassage(std::string_view text, const std::vector<WordMatch>& matches, const Passage& passage) {
  std::string out;
  size_t begin = passage.begin;
  size_t end = passage.end;
  const auto first_match = std::lower_bound(matches.begin(), matches.end(), begin,
                                            [](const WordMatch& match, size_t at) { return match.begin < at; });
  if (begin > 0) {
    out.append(kCutBefore);
    while (begin < end && static_cast<uint8_t>(text[begin]) <= 0x20) ++begin;
  }
  if (end < text.size()) {
    while (end > begin && static_cast<uint8_t>(text[end - 1]) <= 0x20) --end;
  }
  size_t at = begin;
  for (auto match = first_match; match != matches.end() && match->begin < end; ++match) {
    const size_t match_end = std::min<size_t>(match->end, end);
    AppendEscaped(text, at, match->begin, &out);
    out.append("<em>");
    AppendEscaped(text, match->begin, match_end, &out);
    out.append("</em>");
    at = match_end;
  }
  AppendEscaped(text, at, end, &out);
  if (end < text.size() && passage.end < text.size()) out.append(kCutBehind);
  return out;
}

}  // namespace gannet
