// A window: kWindowSize consecutive documents of a segment, the unit of evaluation.
//
// Everything behind the evaluator (deletions, filter, counts, facets, sorting, the top hits) sees windows and
// nothing else, so that how matches are found and scored can change without them.
//
// Invariant that saves clearing: a sparse array (scores, flags, frequencies) is all zero between windows. Whoever
// writes to it notes the 64-document words that it touched in a mask, and wipes these. Sets of documents carry such a
// mask, too, so that a window costs by what is in it and not by its size.
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

// A documents' range of a segment: [base, end), base a multiple of kWindowSize.
struct WindowRange {
  uint32_t base;
  uint32_t end;
};

// Calls visit(word number) in ascending order.
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
  uint64_t used = 0;  // a bit per word that may have any; the other words are zero
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

  // The words that have bits.
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

  // kWindowWords words.
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

  // What both others have.
  void UniteCommon(const WindowBits& one, const WindowBits& other) {
    const uint64_t common = one.used & other.used;
    ForEachWord(common, [&](uint32_t word) { words[word] |= one.words[word] & other.words[word]; });
    used |= common;
  }

  // The offsets [begin, end).
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
  // Good where `matches` is set and the evaluator scores; anything elsewhere.
  alignas(64) float scores[kWindowSize] = {};
  // Where the evaluator scores: of the documents that may be among the hits, all that have a bonus (proximity_scorer.h),
  // and others.
  WindowBits bonus_candidates;
};

// The offsets at which a sparse array of floats is not zero, in the order in which they came to be.
class TouchedOffsets {
 public:
  // Adds to one element; after each kRunMax of these, EndRun() follows. `value` is above zero.
  void Add(uint32_t offset, float value, float* values) {
    offsets_[count_] = static_cast<uint16_t>(offset);
    count_ += values[offset] == 0;
    values[offset] += value;
  }
  // Zeros come of damaged postings alone. They might be noted again and again.
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

// Zeroes the 64 elements of every word in the mask; `values` is aligned to 64 bytes.
template <typename T>
inline void WipeWords(T* values, uint64_t words) {
  if (words == ~uint64_t{0}) {
    std::memset(values, 0, kWindowSize * sizeof(T));
    return;
  }
  // A memset of this size would be compiled to a string instruction, whose start alone takes longer.
  typedef uint64_t Zeros __attribute__((vector_size(16), may_alias));
  constexpr uint32_t kStores = 64 * sizeof(T) / sizeof(Zeros);
  ForEachWord(words, [&](uint32_t word) {
    auto* at = reinterpret_cast<Zeros*>(values + word * 64);
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((at[kIndex] = Zeros{}), ...);
    }(std::make_index_sequence<kStores>{});
  });
}

// The words that hold the offsets [first, last].
inline uint64_t WordRange(uint32_t first, uint32_t last) {
  const uint32_t low = first / 64;
  const uint32_t high = last / 64;
  return (~uint64_t{0} << low) & (~uint64_t{0} >> (63 - high));
}

}  // namespace gannet
