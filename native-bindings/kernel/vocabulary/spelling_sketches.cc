#include "spelling_sketches.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../analysis/utf8.h"
#include "../common/bits.h"
#include "../common/lanes.h"
#include "../common/simd.h"

namespace gannet {
namespace {

constexpr uint32_t kCharacterBits = 32;

// Appends the numbers whose sketch differs from the sought one in at most `bits_max` bits.
void SelectNearBaseline(std::span<const uint64_t> sketches, const uint32_t* numbers, uint64_t sought, uint32_t bits_max,
                        std::vector<uint32_t>* selected) {
  for (size_t i = 0; i < sketches.size(); ++i) {
    if (PopCount(sketches[i] ^ sought) <= bits_max) selected->push_back(numbers[i]);
  }
}

#if defined(__x86_64__)

__attribute__((target("popcnt"))) void SelectNearPopcnt(std::span<const uint64_t> sketches, const uint32_t* numbers,
                                                        uint64_t sought, uint32_t bits_max, std::vector<uint32_t>* selected) {
  for (size_t i = 0; i < sketches.size(); ++i) {
    if (static_cast<uint32_t>(__builtin_popcountll(sketches[i] ^ sought)) <= bits_max) selected->push_back(numbers[i]);
  }
}

__attribute__((target("avx2,popcnt"))) void SelectNearAvx2(std::span<const uint64_t> sketches, const uint32_t* numbers,
                                                          uint64_t sought, uint32_t bits_max, std::vector<uint32_t>* selected) {
  constexpr size_t kAtOnce = 4;
  const __m256i wanted = _mm256_set1_epi64x(static_cast<int64_t>(sought));
  const __m256i most = _mm256_set1_epi64x(bits_max);
  size_t i = 0;
  for (; i + kAtOnce <= sketches.size(); i += kAtOnce) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&sketches[i]));
    const __m256i differing = SumByWord(BitsByByte(_mm256_xor_si256(some, wanted)));
    const int far = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(differing, most)));
    for (uint32_t near = static_cast<uint32_t>(far) ^ 0xf; near != 0; near &= near - 1) {
      selected->push_back(numbers[i + static_cast<uint32_t>(__builtin_ctz(near))]);
    }
  }
  SelectNearPopcnt(sketches.subspan(i), numbers + i, sought, bits_max, selected);
}

__attribute__((target("popcnt,avx512f,avx512vpopcntdq"))) void SelectNearAvx512(std::span<const uint64_t> sketches,
                                                                                const uint32_t* numbers, uint64_t sought,
                                                                                uint32_t bits_max,
                                                                                std::vector<uint32_t>* selected) {
  constexpr size_t kAtOnce = 8;
  const __m512i wanted = _mm512_set1_epi64(static_cast<int64_t>(sought));
  const __m512i most = _mm512_set1_epi64(bits_max);
  size_t i = 0;
  for (; i + kAtOnce <= sketches.size(); i += kAtOnce) {
    const __m512i differing = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(&sketches[i]), wanted));
    for (uint32_t near = _mm512_cmple_epu64_mask(differing, most); near != 0; near &= near - 1) {
      selected->push_back(numbers[i + static_cast<uint32_t>(__builtin_ctz(near))]);
    }
  }
  SelectNearPopcnt(sketches.subspan(i), numbers + i, sought, bits_max, selected);
}

const auto kSelectNear = [] {
  const InstructionSets sets = ProcessorInstructionSets();
  if (sets.popcnt && sets.avx512f && sets.avx512vpopcntdq) return SelectNearAvx512;
  if (sets.popcnt && sets.avx2) return SelectNearAvx2;
  return sets.popcnt ? SelectNearPopcnt : SelectNearBaseline;
}();

#else
constexpr auto kSelectNear = SelectNearBaseline;
#endif

}  // namespace

WordSketch::WordSketch(std::string_view word) {
  for (size_t at = 0; at < word.size(); ++length) {
    const DecodedCharacter character = DecodeUtf8(word.data() + at, word.size() - at);
    const uint64_t bit = uint64_t{1} << (character.code % kCharacterBits);
    characters |= (characters & bit) == 0 ? bit : bit << kCharacterBits;
    at += character.length;
  }
}

SpellingSketches::SpellingSketches(const SpellingIndex& index)
    : is_known_(true), characters_(index.size()), numbers_(index.size()) {
  std::vector<WordSketch> sketches;
  sketches.reserve(index.size());
  for (uint32_t number = 0; number < index.size(); ++number) {
    WordSketch& sketch = sketches.emplace_back(index.term(number));
    sketch.length = std::min(sketch.length, kSpellingCharactersMax);  // longer only if the file is damaged
    ++begins_[sketch.length + 1];
  }
  for (size_t length = 1; length < begins_.size(); ++length) begins_[length] += begins_[length - 1];
  auto next = begins_;
  for (uint32_t number = 0; number < index.size(); ++number) {
    const uint32_t place = next[sketches[number].length]++;
    characters_[place] = sketches[number].characters;
    numbers_[place] = number;
  }
}

void SpellingSketches::FindNear(const WordSketch& word, uint32_t edits, std::vector<uint32_t>* terms) const {
  if (word.length > kSpellingCharactersMax) return;
  const uint32_t shortest = word.length - std::min(word.length, edits);
  const uint32_t longest = std::min(word.length + edits, kSpellingCharactersMax);
  for (uint32_t length = shortest; length <= longest; ++length) {
    // As many edits as the lengths differ by must add or drop a character.
    const uint32_t differing = std::max(length, word.length) - std::min(length, word.length);
    const uint32_t begin = begins_[length];
    kSelectNear({characters_.data() + begin, begins_[length + 1] - begin}, numbers_.data() + begin, word.characters,
                2 * edits - differing, terms);
  }
}

}  // namespace gannet
