#include "spelling_index.h"

#include <algorithm>
#include <array>
#include <bit>

#include "../analysis/signed_words.h"
#include "../analysis/stemmer.h"
#include "../analysis/utf8.h"
#include "../common/error.h"

namespace gannet {
namespace {

// Ranges of up to this many terms are checked one by one.
constexpr uint32_t kSmallRange = 4;
constexpr size_t kCharacterBytesMax = 4;
constexpr size_t kTextBytesMax = 0xffffffffu;

// The bytes of one character, in the order in which a side reads them.
struct Character {
  std::array<char, kCharacterBytesMax> bytes;
  uint32_t length = 0;
  uint32_t code = 0;
};

// The positions of a word that are possible after some characters of a term: bit j of reached[e] means that the first j
// characters of the word were read with e edits; bit j of swapped[e] means that this was so before the term's last
// character, which is the word's character j+1 (from 0): if the next one is the word's j, the two were swapped.
struct Progress {
  std::array<uint64_t, kSpellingEditsMax + 1> reached;
  std::array<uint64_t, kSpellingEditsMax> swapped;

  bool is_alive() const { return (reached[0] | reached[1] | reached[2] | swapped[0] | swapped[1]) != 0; }
};

class WordAutomaton {
 public:
  // Allows at most `edits` in all, and `first_edits` in the first `first_length` characters.
  WordAutomaton(std::vector<Character> word, uint32_t edits, uint32_t first_length, uint32_t first_edits)
      : word_(std::move(word)), edits_(edits) {
    const uint64_t all = (uint64_t{2} << word_.size()) - 1;
    for (uint32_t e = 0; e <= kSpellingEditsMax; ++e) {
      allowed_[e] = e > edits ? 0 : e <= first_edits ? all : all & ~((uint64_t{1} << first_length) - 1);
    }
    for (uint32_t i = 0; i < word_.size(); ++i) {
      if (word_[i].code < ascii_.size()) ascii_[word_[i].code] |= uint64_t{1} << i;
    }
  }

  const std::vector<Character>& word() const { return word_; }

  Progress Start() const {
    Progress start{};
    start.reached[0] = 1;
    for (uint32_t e = 1; e <= kSpellingEditsMax; ++e) start.reached[e] = start.reached[e - 1] << 1 & allowed_[e];
    return start;
  }

  Progress Step(const Progress& from, uint32_t code) const {
    const uint64_t same = PositionsOf(code);
    Progress to{};
    to.reached[0] = (from.reached[0] & same) << 1;
    uint64_t better = to.reached[0];
    for (uint32_t e = 1; e <= kSpellingEditsMax; ++e) {
      const uint64_t before = from.reached[e - 1];
      const uint64_t reached = (from.reached[e] & same) << 1 |  // the same character
                               before | before << 1 |           // one extra, or another one
                               to.reached[e - 1] << 1 |         // one missing
                               (from.swapped[e - 1] & same) << 2;
      // A position reached with fewer edits needs no more.
      to.reached[e] = reached & allowed_[e] & ~better;
      better |= to.reached[e];
      to.swapped[e - 1] = before & same >> 1 & allowed_[e] >> 2;
    }
    return to;
  }

  // Returns the number of edits of a term that ends here; above kSpellingEditsMax if it does not match.
  uint32_t Distance(const Progress& progress) const {
    uint32_t e = 0;
    while (e <= kSpellingEditsMax && !(progress.reached[e] >> word_.size() & 1)) ++e;
    return e;
  }

  // Returns true if any character may follow; otherwise only those of the word at Expected may.
  bool IsFree(const Progress& progress) const {
    uint64_t free = 0;
    for (uint32_t e = 0; e < edits_; ++e) free |= (progress.reached[e] | progress.reached[e] << 1) & allowed_[e + 1];
    return free != 0;
  }

  // Returns the positions of the word whose character may follow.
  uint64_t Expected(const Progress& progress) const {
    uint64_t positions = 0;
    for (uint32_t e = 0; e <= kSpellingEditsMax; ++e) positions |= progress.reached[e];
    for (uint32_t e = 0; e < kSpellingEditsMax; ++e) {
      positions |= progress.swapped[e] | (progress.reached[e] & allowed_[e + 1] >> 2) << 1;
    }
    return positions & ((uint64_t{1} << word_.size()) - 1);
  }

 private:
  uint64_t PositionsOf(uint32_t code) const {
    if (code < ascii_.size()) return ascii_[code];
    uint64_t positions = 0;
    for (uint32_t i = 0; i < word_.size(); ++i) positions |= uint64_t{word_[i].code == code} << i;
    return positions;
  }

  std::vector<Character> word_;
  uint32_t edits_;
  std::array<uint64_t, kSpellingEditsMax + 1> allowed_;
  std::array<uint64_t, 128> ascii_ = {};
};

// Reads the index in byte order.
struct Forwards {
  const SpellingIndex& index;

  std::string_view term(uint32_t place) const { return index.term(place); }
  uint32_t number(uint32_t place) const { return place; }
  static char ByteAt(std::string_view term, size_t depth) { return term[depth]; }
  static Character CharacterAt(std::string_view term, size_t depth) {
    const auto [code, length] = DecodeUtf8(term.data() + depth, term.size() - depth);
    Character character;
    character.code = code;
    character.length = length;
    for (uint32_t i = 0; i < length; ++i) character.bytes[i] = term[depth + i];
    return character;
  }
};

// Reads the index by bytes read backwards; depth counts from the end.
struct Backwards {
  const SpellingIndex& index;

  std::string_view term(uint32_t place) const { return index.backward_term(place); }
  uint32_t number(uint32_t place) const { return index.backward_number(place); }
  static char ByteAt(std::string_view term, size_t depth) { return term[term.size() - 1 - depth]; }
  static Character CharacterAt(std::string_view term, size_t depth) {
    const size_t end = term.size() - depth;
    size_t begin = end - 1;
    while (begin > 0 && end - begin < kCharacterBytesMax && (static_cast<uint8_t>(term[begin]) & 0xc0) == 0x80) --begin;
    Character character;
    const auto decoded = DecodeUtf8(term.data() + begin, end - begin);
    // Terms are well-formed; a damaged one is read byte by byte.
    const bool whole = decoded.length == end - begin;
    character.code = whole ? decoded.code : kReplacementCharacter;
    character.length = whole ? decoded.length : 1;
    for (uint32_t i = 0; i < character.length; ++i) character.bytes[i] = term[end - 1 - i];
    return character;
  }
};

template <typename Side>
class Walker {
 public:
  Walker(const Side& side, const WordAutomaton& automaton, std::vector<SpellingMatch>* found)
      : side_(side), automaton_(automaton), found_(found) {}

  void Run() { Visit(0, side_.index.size(), 0, automaton_.Start()); }
  void RunOn(uint32_t place) { Check(place, 0, automaton_.Start()); }

 private:
  // Visits the terms at places [low, high), which share their first `depth` bytes; these led to `progress`.
  void Visit(uint32_t low, uint32_t high, size_t depth, const Progress& progress) {
    if (high - low <= kSmallRange) {
      for (; low < high; ++low) Check(low, depth, progress);
      return;
    }
    // A term that ends here comes first; there is at most one.
    while (low < high && side_.term(low).size() <= depth) Accept(low++, progress);
    if (!automaton_.IsFree(progress)) return VisitExpected(low, high, depth, progress);
    while (low < high) {
      const std::string_view term = side_.term(low);
      if (term.size() <= depth) return;  // Only if damage broke the order.
      const Character next = Side::CharacterAt(term, depth);
      const Progress after = automaton_.Step(progress, next.code);
      const uint32_t end = EndOfRun(low, high, depth, next);
      if (after.is_alive()) Visit(low, end, depth + next.length, after);
      low = end;
    }
  }

  void VisitExpected(uint32_t low, uint32_t high, size_t depth, const Progress& progress) {
    uint64_t positions = automaton_.Expected(progress);
    for (uint64_t rest = positions; rest != 0; rest &= rest - 1) {
      const auto position = static_cast<uint32_t>(std::countr_zero(rest));
      const Character& next = automaton_.word()[position];
      if (IsBefore(next.code, positions, position)) continue;
      const Progress after = automaton_.Step(progress, next.code);
      if (!after.is_alive()) continue;
      const uint32_t begin = Bound(low, high, depth, next, false);
      const uint32_t end = begin == high ? high : EndOfRun(begin, high, depth, next);
      if (begin < end) Visit(begin, end, depth + next.length, after);
    }
  }

  // Returns true if the character also occurs at an earlier position of the set.
  bool IsBefore(uint32_t code, uint64_t positions, uint32_t position) const {
    for (uint64_t rest = positions & ((uint64_t{1} << position) - 1); rest != 0; rest &= rest - 1) {
      if (automaton_.word()[static_cast<uint32_t>(std::countr_zero(rest))].code == code) return true;
    }
    return false;
  }

  // Compares the continuation of the term at a place after `depth` with the character: < 0, 0, > 0.
  int Compare(uint32_t place, size_t depth, const Character& character) const {
    const std::string_view term = side_.term(place);
    for (uint32_t i = 0; i < character.length; ++i) {
      if (term.size() <= depth + i) return -1;
      const auto have = static_cast<uint8_t>(Side::ByteAt(term, depth + i));
      const auto want = static_cast<uint8_t>(character.bytes[i]);
      if (have != want) return have < want ? -1 : 1;
    }
    return 0;
  }

  // Returns the first place whose term is not before (with `behind`: is after) those that continue with the character.
  uint32_t Bound(uint32_t low, uint32_t high, size_t depth, const Character& character, bool behind) const {
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      const int order = Compare(middle, depth, character);
      if (order < 0 || (behind && order == 0)) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Returns the end of the run that begins at `low` if the term at `low` belongs to it; else `low`.
  uint32_t EndOfRun(uint32_t low, uint32_t high, size_t depth, const Character& character) const {
    if (Compare(low, depth, character) != 0) return low;
    uint32_t step = 1;
    uint32_t inside = low;
    while (high - inside > step && Compare(inside + step, depth, character) == 0) {
      inside += step;
      step *= 2;
    }
    return Bound(inside + 1, high - inside > step ? inside + step : high, depth, character, true);
  }

  void Check(uint32_t place, size_t depth, Progress progress) {
    const std::string_view term = side_.term(place);
    while (depth < term.size()) {
      const Character next = Side::CharacterAt(term, depth);
      progress = automaton_.Step(progress, next.code);
      if (!progress.is_alive()) return;
      depth += next.length;
    }
    Accept(place, progress);
  }

  void Accept(uint32_t place, const Progress& progress) {
    const uint32_t distance = automaton_.Distance(progress);
    if (distance <= kSpellingEditsMax) found_->push_back({side_.number(place), distance});
  }

  const Side& side_;
  const WordAutomaton& automaton_;
  std::vector<SpellingMatch>* found_;
};

std::vector<Character> CharactersOf(std::string_view word) {
  std::vector<Character> characters;
  for (size_t at = 0; at < word.size(); at += characters.back().length) {
    characters.push_back(Forwards::CharacterAt(word, at));
  }
  return characters;
}

// Keeps one match per term, the one with the fewest edits, sorted by number.
void RemoveRepeats(std::vector<SpellingMatch>* found) {
  std::sort(found->begin(), found->end(), [](const SpellingMatch& a, const SpellingMatch& b) {
    return a.term != b.term ? a.term < b.term : a.distance < b.distance;
  });
  found->erase(std::unique(found->begin(), found->end(),
                           [](const SpellingMatch& a, const SpellingMatch& b) { return a.term == b.term; }),
               found->end());
}

}  // namespace

bool IsSpellable(std::string_view term) {
  if (term.size() > kSpellingCharactersMax * kCharacterBytesMax || HasDigit(term) || IsSigned(term)) return false;
  const uint32_t characters = CountCharacters(term);
  return characters >= kSpellingCharactersMin && characters <= kSpellingCharactersMax;
}

SpellingIndex::SpellingIndex(std::span<const uint8_t> text, std::span<const uint32_t> offsets,
                             std::span<const uint32_t> backwards)
    : text_(reinterpret_cast<const char*>(text.data()), text.size()), offsets_(offsets), backwards_(backwards) {
  if (offsets.size() != backwards.size() + 1) throw Error(ErrorCode::kDamaged, "segment: spelling index");
}

std::string_view SpellingIndex::term(uint32_t number) const {
  const uint32_t begin = offsets_[number];
  const uint32_t end = offsets_[number + 1];
  if (begin >= end || end > text_.size()) throw Error(ErrorCode::kDamaged, "segment: a term of the spelling index");
  return {text_.data() + begin, end - begin};
}

uint32_t SpellingIndex::backward_number(uint32_t place) const {
  const uint32_t number = backwards_[place];
  if (number >= size()) throw Error(ErrorCode::kDamaged, "segment: order of the spelling index");
  return number;
}

std::string_view SpellingIndex::backward_term(uint32_t place) const { return term(backward_number(place)); }

std::vector<SpellingMatch> SpellingIndex::Find(std::string_view word, uint32_t edits) const {
  std::vector<SpellingMatch> found;
  if (size() == 0 || edits == 0 || !IsSpellable(word)) return found;
  edits = std::min(edits, kSpellingEditsMax);
  std::vector<Character> characters = CharactersOf(word);
  const auto length = static_cast<uint32_t>(characters.size());
  const uint32_t cut = (length + 1) / 2;
  const Forwards forwards{*this};
  const WordAutomaton forward_automaton(characters, edits, cut, edits - 1);
  Walker<Forwards>(forwards, forward_automaton, &found).Run();
  std::reverse(characters.begin(), characters.end());
  for (Character& character : characters) {
    std::reverse(character.bytes.begin(), character.bytes.begin() + character.length);
  }
  const Backwards backwards{*this};
  const WordAutomaton backward_automaton(characters, edits, length - cut + 1, 0);
  Walker<Backwards>(backwards, backward_automaton, &found).Run();
  // A term may have been found twice, by different edits.
  RemoveRepeats(&found);
  return found;
}

std::vector<SpellingMatch> SpellingIndex::FindAmong(std::span<const uint32_t> terms, std::string_view word,
                                                    uint32_t edits) const {
  std::vector<SpellingMatch> found;
  if (terms.empty() || edits == 0 || !IsSpellable(word)) return found;
  edits = std::min(edits, kSpellingEditsMax);
  const Forwards forwards{*this};
  const WordAutomaton automaton(CharactersOf(word), edits, 0, edits);
  Walker<Forwards> walker(forwards, automaton, &found);
  for (const uint32_t term : terms) {
    if (term >= size()) throw Error(ErrorCode::kDamaged, "segment: a number of the spelling index");
    walker.RunOn(term);
  }
  RemoveRepeats(&found);
  return found;
}

void SpellingIndexWriter::Add(std::string_view term) {
  if (!IsSpellable(term) || text_.size() + term.size() > kTextBytesMax) return;
  text_.append(term);
  offsets_.push_back(static_cast<uint32_t>(text_.size()));
}

std::vector<uint32_t> SpellingIndexWriter::Backwards() const {
  struct Entry {
    uint64_t ending;  // the last bytes, the last one highest; nearly always decides the order
    uint32_t number;
  };
  std::vector<Entry> entries(offsets_.size() - 1);
  for (uint32_t number = 0; number < entries.size(); ++number) {
    uint64_t ending = 0;
    const std::string_view bytes = term(number);
    for (size_t i = 0; i < sizeof(ending); ++i) {
      ending = ending << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[bytes.size() - 1 - i]) : 0);
    }
    entries[number] = {ending, number};
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.ending != b.ending) return a.ending < b.ending;
    const std::string_view left = term(a.number);
    const std::string_view right = term(b.number);
    return std::lexicographical_compare(
        left.rbegin(), left.rend(), right.rbegin(), right.rend(),
        [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
  });
  std::vector<uint32_t> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& entry) { return entry.number; });
  return order;
}

}  // namespace gannet
