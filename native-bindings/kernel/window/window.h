// A window: kWindowSize consecutive documents of a segment, the unit of evaluation.
//
// Everything after the evaluator (deletions, filter, counts, facets, sorting, the top hits) sees only windows, so that
// the way in which matches are found and scored can change independently.
//
// An invariant saves clearing: a sparse array (scores, flags, frequencies) is all zero between windows. Code that
// writes to it records the 64-document words that it touched in a mask, and wipes these words afterwards. Sets of
// documents have such a mask, too, so that the cost of a window depends on its content and not on its size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "../common/bits.h"
#include "../format.h"

namespace gannet {

inline constexpr uint32_t kWindowWords = kWindowSize / 64;
static_assert(kWindowWords == 64, "a mask of words is one uint64_t");

// A range of documents of a segment: [base, end), where base is a multiple of kWindowSize.
struct WindowRange {
  uint32_t base;
  uint32_t end;
};

// Calls visit(word number) for each bit of the mask, in ascending order.
template <typename Visit>
inline void ForEachWord(uint64_t words, Visit&& visit) {
  for (; words != 0; words &= words - 1) visit(static_cast<uint32_t>(std::countr_zero(words)));
}

template <typename Visit>
inline void ForEachBit(uint64_t word, uint32_t offset, Visit&& visit) {
  while (word != 0) {
    visit(offset + static_cast<uint32_t>(std::countr_zero(word)));
    word &= word - 1;
  }
}

// A set of documents of a window, by their offsets in it.
struct WindowBits {
  uint64_t used = 0;  // one bit per word that may be non-zero; the other words are zero
  alignas(64) uint64_t words[kWindowWords] = {};

  bool Contains(uint32_t offset) const { return words[offset / 64] >> (offset % 64) & 1; }

  void Add(uint32_t offset) {
    words[offset / 64] |= uint64_t{1} << (offset % 64);
    used |= uint64_t{1} << (offset / 64);
  }

  void Remove(uint32_t offset) { words[offset / 64] &= ~(uint64_t{1} << (offset % 64)); }

  bool Any() const {
    uint64_t any = 0;
    ForEachWord(used, [&](uint32_t word) { any |= words[word]; });
    return any != 0;
  }

  uint32_t Count() const {
    return CountUsedBits(words, used);
  }

  // Returns the mask of the words that have bits.
  uint64_t Occupied() const {
    uint64_t occupied = 0;
    ForEachWord(used, [&](uint32_t word) { occupied |= uint64_t{words[word] != 0} << word; });
    return occupied;
  }

  void Clear() {
    if (used == ~uint64_t{0}) {
      std::memset(words, 0, sizeof(words));
    } else {
      ForEachWord(used, [&](uint32_t word) { words[word] = 0; });
    }
    used = 0;
  }

  void Assign(const WindowBits& other) {
    if (other.used == ~uint64_t{0}) {
      std::memcpy(words, other.words, sizeof(words));
    } else {
      Clear();
      ForEachWord(other.used, [&](uint32_t word) { words[word] = other.words[word]; });
    }
    used = other.used;
  }

  void Intersect(const WindowBits& other) {
    ForEachWord(used, [&](uint32_t word) { words[word] &= other.words[word]; });
    used &= other.used;
  }

  // `other` has kWindowWords words.
  void Subtract(const uint64_t* other) {
    ForEachWord(used, [&](uint32_t word) { words[word] &= ~other[word]; });
  }

  void Subtract(const WindowBits& other) {
    ForEachWord(used & other.used, [&](uint32_t word) { words[word] &= ~other.words[word]; });
  }

  void Unite(const WindowBits& other) {
    ForEachWord(other.used, [&](uint32_t word) { words[word] |= other.words[word]; });
    used |= other.used;
  }

  // Adds the documents that both sets have.
  void UniteCommon(const WindowBits& one, const WindowBits& other) {
    const uint64_t common = one.used & other.used;
    ForEachWord(common, [&](uint32_t word) { words[word] |= one.words[word] & other.words[word]; });
    used |= common;
  }

  // Adds the offsets [begin, end).
  void AddRange(uint32_t begin, uint32_t end) {
    for (uint32_t word = begin / 64; word * 64 < end; ++word) {
      uint64_t mask = ~uint64_t{0};
      if (word * 64 < begin) mask <<= begin % 64;
      if (end - word * 64 < 64) mask &= (uint64_t{1} << (end % 64)) - 1;
      words[word] |= mask;
      used |= uint64_t{1} << word;
    }
  }
};

// Calls visit(offset in the window) in ascending order.
template <typename Visit>
inline void ForEachBit(const WindowBits& bits, Visit&& visit) {
  ForEachWord(bits.used, [&](uint32_t word) { ForEachBit(bits.words[word], word * 64, visit); });
}

struct Window {
  WindowRange range{0, 0};
  WindowBits matches;
  // Valid where `matches` is set, if the evaluator scores; undefined elsewhere.
  alignas(64) float scores[kWindowSize] = {};
  // If the evaluator scores: contains at least those documents, of the ones that may be hits, that have a bonus
  // (proximity_scorer.h).
  WindowBits bonus_candidates;
};

// The offsets of the non-zero elements of a sparse array of floats, in the order in which they became non-zero.
class TouchedOffsets {
 public:
  // Adds `value`, which is above zero, to one element. EndRun() must follow after at most kRunMax calls.
  void Add(uint32_t offset, float value, float* values) {
    offsets_[count_] = static_cast<uint16_t>(offset);
    count_ += values[offset] == 0;
    values[offset] += value;
  }
  // Only damaged postings have values of zero, which may be recorded repeatedly; this bounds their number.
  void EndRun() { count_ = std::min(count_, kWindowSize); }

  std::span<const uint16_t> offsets() const { return {offsets_.data(), count_}; }

  // Zeroes all elements.
  void Wipe(float* values) {
    if (count_ == kWindowSize) {
      std::memset(values, 0, kWindowSize * sizeof(float));
    } else {
      for (const uint16_t offset : offsets()) values[offset] = 0;
    }
    count_ = 0;
  }

  static constexpr uint32_t kRunMax = 128;

 private:
  uint32_t count_ = 0;
  std::array<uint16_t, kWindowSize + kRunMax> offsets_;
};

// Zeroes the 64 elements of every word in the mask; `values` must be aligned to 64 bytes.
template <typename T>
inline void WipeWords(T* values, uint64_t words) {
  if (words == ~uint64_t{0}) {
    std::memset(values, 0, kWindowSize * sizeof(T));
    return;
  }
  // A memset of this size would be compiled to a string instruction, whose start-up alone takes longer.
  typedef uint64_t Zeros __attribute__((vector_size(16), may_alias));
  constexpr uint32_t kStores = 64 * sizeof(T) / sizeof(Zeros);
  ForEachWord(words, [&](uint32_t word) {
    auto* at = reinterpret_cast<Zeros*>(values + word * 64);
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((at[kIndex] = Zeros{}), ...);
    }(std::make_index_sequence<kStores>{});
  });
}

// Returns the mask of the words that hold the offsets [first, last].
inline uint64_t WordRange(uint32_t first, uint32_t last) {
  const uint32_t low = first / 64;
  const uint32_t high = last / 64;
  return (~uint64_t{0} << low) & (~uint64_t{0} >> (63 - high));
}

}  // namespace gannet
