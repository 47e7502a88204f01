#include "spelling_sketches.h"

#include <algorithm>
#include <bit>

#include "../analysis/utf8.h"

namespace gannet {

WordSketch::WordSketch(std::string_view word) {
  for (size_t at = 0; at < word.size(); ++length) {
    const DecodedCharacter character = DecodeUtf8(word.data() + at, word.size() - at);
    characters |= uint64_t{1} << (character.code % 64);
    at += character.length;
  }
}

SpellingSketches::SpellingSketches(const SpellingIndex& index) : is_known_(true), characters_(index.size()) {
  std::vector<WordSketch> sketches;
  sketches.reserve(index.size());
  for (uint32_t number = 0; number < index.size(); ++number) {
    WordSketch& sketch = sketches.emplace_back(index.term(number));
    sketch.length = std::min(sketch.length, kSpellingCharactersMax);  // longer only where the file is damaged
    ++begins_[sketch.length + 1];
  }
  for (size_t length = 1; length < begins_.size(); ++length) begins_[length] += begins_[length - 1];
  auto next = begins_;
  for (const WordSketch& sketch : sketches) characters_[next[sketch.length]++] = sketch.characters;
}

bool SpellingSketches::MayHaveNear(const WordSketch& word, uint32_t edits) const {
  if (!is_known_) return true;
  if (word.length > kSpellingCharactersMax) return false;
  const uint32_t shortest = word.length - std::min(word.length, edits);
  const uint32_t longest = std::min(word.length + edits, kSpellingCharactersMax);
  return std::any_of(characters_.begin() + begins_[shortest], characters_.begin() + begins_[longest + 1],
                     [&](uint64_t characters) {
                       return static_cast<uint32_t>(std::popcount(characters ^ word.characters)) <= 2 * edits;
                     });
}

}  // namespace gannet
