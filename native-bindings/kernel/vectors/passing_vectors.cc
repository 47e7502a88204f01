#include "passing_vectors.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

constexpr uint32_t kWordBits = 64;
// Limit of the mean squared deviation of the cells from their expected share, in units of what chance gives (Pearson's
// chi-squared per cell).
constexpr double kSquaresOfChance = 2;
// Least share of all nodes that must pass for the graph to be searched.
constexpr double kSharePassingOfGraph = 0.3;
// Number of codes that can be packed in the time that one search then saves: a search saves 10 to 20 µs, and a code
// takes some 40 ns.
constexpr uint32_t kPackedForSearch = 250;
constexpr size_t kLineBytes = 64;

// Returns the bits of word `index` that are in [first, end).
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

// Computes the mean of codes that are side by side, rounded to a code. With four bits, the two components of a byte are
// summed separately.
class MeanOfCodes {
 public:
  MeanOfCodes(size_t stride, CodeBits bits) : is_of_four_(bits == CodeBits::kFour), low_(stride), high_(is_of_four_ ? stride : 0) {}

  void Of(const Codes& codes, uint32_t count, uint8_t* mean) {
    std::ranges::fill(low_, 0u);
    std::ranges::fill(high_, 0u);
    for (uint32_t number = 0; number < count; ++number) Add(codes.of(number));
    for (size_t i = 0; i < low_.size(); ++i) {
      mean[i] = static_cast<uint8_t>((low_[i] + count / 2) / count);
      if (is_of_four_) mean[i] |= static_cast<uint8_t>((high_[i] + count / 2) / count << 4);
    }
  }

 private:
  void Add(const uint8_t* codes) {
    if (!is_of_four_) {
      for (size_t i = 0; i < low_.size(); ++i) low_[i] += codes[i];
      return;
    }
    for (size_t i = 0; i < low_.size(); ++i) {
      low_[i] += codes[i] & 0xf;
      high_[i] += codes[i] >> 4;
    }
  }

  const bool is_of_four_;
  std::vector<uint32_t> low_;
  std::vector<uint32_t> high_;
};

}  // namespace

PassingVectors::PassingVectors(const VectorGraph& graph, std::vector<uint64_t> ordinals, uint64_t packed_bytes_max)
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
  if (IsToBePacked(graph, packed_bytes_max)) Pack(graph);
  // Centres in codes of bytes (few dimensions) are not copied: not every processor multiplies these as fast.
  if (is_for_graph_ && graph.bits() == CodeBits::kFour) CopyCentres(graph);
}

void PassingVectors::ListCells(const VectorGraph& graph) {
  double squares = 0;
  const double share = static_cast<double>(nodes_) / graph.nodes();
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
    const double off = passing - share * static_cast<double>(all);
    if (all > 0) squares += off * off / static_cast<double>(all);
  }
  is_by_chance_ = squares <= kSquaresOfChance * share * (1 - share) * graph.cells();
  is_for_graph_ = graph.has_links() && nodes_ >= kSharePassingOfGraph * graph.nodes();
}

bool PassingVectors::IsToBePacked(const VectorGraph& graph, uint64_t bytes_max) const {
  return !cells_.empty() && !is_for_graph_ && nodes_ * graph.codes().stride <= bytes_max;
}

uint32_t PassingVectors::PackingPaysAfter(const VectorGraph& graph) const {
  return IsToBePacked(graph, kPackedBytesMax) && !is_packed() ? nodes_ / kPackedForSearch + 1 : 0;
}

void PassingVectors::Pack(const VectorGraph& graph) {
  stride_ = graph.codes().stride;
  for (const uint32_t cell : cells_) {
    packed_begins_.push_back(static_cast<uint32_t>(packed_places_.size()));
    for (uint32_t level = graph.levels(); level-- > 0;) {
      const auto [first, end] = graph.cell(cell, level);
      ListNodes(first, end, &packed_places_);
    }
    // Each node is in one cell, except in a damaged file.
    if (packed_places_.size() > nodes_) break;
  }
  if (packed_places_.size() > nodes_) {
    packed_places_.clear();
    return;
  }
  packed_begins_.push_back(static_cast<uint32_t>(packed_places_.size()));
  CopyCodes(graph);
}

// Returns zeroed memory that begins at a multiple of a cache line.
uint8_t* PassingVectors::RoomFor(size_t bytes) {
  packed_memory_.resize(bytes + kLineBytes);
  void* at = packed_memory_.data();
  size_t room = packed_memory_.size();
  return static_cast<uint8_t*>(std::align(kLineBytes, 1, at, room));
}

void PassingVectors::CopyCentres(const VectorGraph& graph) {
  const Codes centres = graph.centres();
  uint8_t* const blocks = RoomFor(size_t{InterleavedBlocks(static_cast<uint32_t>(cells_.size()))} * kInterleaved * centres.stride);
  for (uint32_t rank = 0; rank < cells_.size(); ++rank) {
    PutInterleaved(centres.of(cells_[rank]), static_cast<uint32_t>(centres.stride), rank, blocks);
  }
  centres_ = blocks;
}

void PassingVectors::CopyCodes(const VectorGraph& graph) {
  const Codes codes = graph.codes();
  const auto cells = static_cast<uint32_t>(cells_.size());
  uint8_t* next = RoomFor((packed_places_.size() + size_t{InterleavedBlocks(cells)} * kInterleaved) * stride_);
  packed_codes_ = next;
  for (size_t i = 0; i < packed_places_.size(); ++i, next += stride_) {
    StopIfAskedAt(i);
    std::copy_n(codes.of(packed_places_[i]), stride_, next);
  }
  centres_ = next;
  MeanOfCodes mean(stride_, graph.bits());
  std::vector<uint8_t> centre(stride_);
  for (uint32_t rank = 0; rank < cells; ++rank) {
    StopIfAskedAt(rank);
    const auto [first, end] = packed(rank);
    mean.Of({packed_codes_ + first * stride_, stride_}, end - first, centre.data());
    PutInterleaved(centre.data(), static_cast<uint32_t>(stride_), rank, next);
  }
}

void PassingVectors::ListNodes(uint32_t first, uint32_t end, std::vector<uint32_t>* places) const {
  ForEachIn(places_, first, end, [&](uint32_t place) { places->push_back(place); });
}

}  // namespace gannet::vectors
