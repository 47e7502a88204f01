#include "passing_vectors.h"

#include <bit>
#include <utility>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

constexpr uint32_t kWordBits = 64;
// Of the cells, so many have at least half of what they would have if all had the same share, where a filter passes something everywhere.
constexpr double kCellsOfEverywhere = 0.9;
constexpr uint64_t kPartOfShare = 2;

// Bits of word `index` of those from `first` up to but without `end`.
uint64_t BitsIn(std::span<const uint64_t> words, uint32_t index, uint32_t first, uint32_t end) {
  uint64_t bits = words[index];
  if (index == first / kWordBits) bits &= ~uint64_t{0} << (first % kWordBits);
  if (index == end / kWordBits) bits &= (uint64_t{1} << (end % kWordBits)) - 1;
  return bits;
}

template <typename Use>
void ForEachIn(std::span<const uint64_t> words, uint32_t first, uint32_t end, const Use& use) {
  if (first >= end) return;
  for (uint32_t index = first / kWordBits; index <= (end - 1) / kWordBits; ++index) {
    StopIfAskedAt(index);
    for (uint64_t bits = BitsIn(words, index, first, end); bits != 0; bits &= bits - 1) {
      use(index * kWordBits + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
}

uint32_t CountIn(std::span<const uint64_t> words, uint32_t first, uint32_t end) {
  if (first >= end) return 0;
  uint32_t count = 0;
  for (uint32_t index = first / kWordBits; index <= (end - 1) / kWordBits; ++index) {
    count += static_cast<uint32_t>(std::popcount(BitsIn(words, index, first, end)));
  }
  return count;
}

uint32_t CountOf(std::span<const uint64_t> words) {
  uint32_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint32_t>(std::popcount(word));
  return count;
}

}  // namespace

PassingVectors::PassingVectors(const VectorGraph& graph, std::vector<uint64_t> ordinals)
    : ordinals_(std::move(ordinals)), places_((graph.nodes() + kWordBits - 1) / kWordBits) {
  ordinals_.resize((graph.count() + kWordBits - 1) / kWordBits);
  if (graph.count() % kWordBits != 0) ordinals_.back() &= (uint64_t{1} << graph.count() % kWordBits) - 1;
  ForEachIn(ordinals_, 0, graph.count(), [&](uint32_t ordinal) {
    const uint32_t place = graph.place(ordinal);
    places_[place / kWordBits] |= uint64_t{1} << (place % kWordBits);
  });
  count_ = CountOf(ordinals_);
  nodes_ = CountOf(places_);
  ListCells(graph);
}

void PassingVectors::ListCells(const VectorGraph& graph) {
  uint32_t even = 0;
  for (uint32_t cell = 0; cell < graph.cells(); ++cell) {
    uint32_t passing = 0;
    uint64_t all = 0;
    for (uint32_t level = 0; level < graph.levels(); ++level) {
      const auto [first, end] = graph.cell(cell, level);
      if (first >= end) continue;
      passing += CountIn(places_, first, end);
      all += end - first;
    }
    if (passing > 0) cells_.push_back(cell);
    even += uint64_t{passing} * graph.nodes() * kPartOfShare >= all * nodes_;
  }
  is_everywhere_ = graph.cells() > 0 && even >= kCellsOfEverywhere * graph.cells();
}

void PassingVectors::ListNodes(uint32_t first, uint32_t end, std::vector<uint32_t>* places) const {
  ForEachIn(places_, first, end, [&](uint32_t place) { places->push_back(place); });
}

}  // namespace gannet::vectors
