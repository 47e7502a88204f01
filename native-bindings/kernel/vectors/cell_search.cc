#include "cell_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

// Per candidate of the width: the minimum number of codes to compare, and the number of comparisons without success
// that ends the search.
struct Share {
  uint32_t least;
  uint32_t in_vain;
};
// For centres of all nodes of the cells.
constexpr Share kNotPacked{80, 30};
// Added to the minimum for each centre that is not compared, if the passing nodes are concentrated in some cells.
constexpr double kLeastForSpared = 2;
// For centres of packed nodes. If the passing nodes are on one side, queries are far from most of them, and centres say
// less about which are near.
constexpr Share kPacked{30, 20};
constexpr Share kPackedOfSide{90, 35};
// Number of codes that are fetched from memory while the previous ones are compared.
constexpr size_t kBatch = 64;
// Number of adjacent codes compared at a time, which need no prefetching.
constexpr uint32_t kScannedTogether = 256;
// Number of cells that are searched at first in addition to those that would be enough if all cells were equal;
// multiplied if these are not enough.
constexpr uint32_t kCellsMore = 16;
constexpr uint32_t kMoreEachTime = 4;
// The bar is found in a sample, and up to this part more than wanted may reach it.
constexpr size_t kSampledProducts = 512;
constexpr uint32_t kPartMore = 8;
// Number of steps between the nearest and the farthest cell to search; cells of one step stay in their order.
constexpr size_t kSteps = 64;

// Returns how many products are not below the bar; compilers vectorise this loop.
uint32_t CountFrom(std::span<const int32_t> products, int32_t bar) {
  uint32_t count = 0;
  for (const int32_t product : products) count += product >= bar;
  return count;
}

// Returns a bar that `wanted` products, or slightly more, reach.
int32_t BarOf(std::span<const int32_t> products, uint32_t wanted) {
  int64_t low = std::numeric_limits<int32_t>::max();
  int64_t high = std::numeric_limits<int32_t>::min();
  for (const int32_t product : products) {
    low = std::min<int64_t>(low, product);
    high = std::max<int64_t>(high, product);
  }
  for (++high; high - low > 1;) {
    const int64_t middle = low + (high - low) / 2;
    const uint32_t count = CountFrom(products, static_cast<int32_t>(middle));
    (count >= wanted ? low : high) = middle;
    if (count >= wanted && count <= wanted + wanted / kPartMore) break;
  }
  return static_cast<int32_t>(low);
}

Share ShareOf(const PassingVectors& passing) {
  if (!passing.is_packed()) return kNotPacked;
  return passing.is_by_chance() ? kPacked : kPackedOfSide;
}

// Returns the minimum number of codes to compare in cells. If the passing nodes are concentrated in some cells, fewer
// centres are compared. If they are not packed either, as many more codes are compared instead: the query is then far
// from most of them, and centres say less about which are near.
uint32_t LeastInCells(const VectorGraph& graph, const PassingVectors& passing, uint32_t width) {
  const uint32_t least = ShareOf(passing).least * width;
  if (passing.is_packed()) return least;
  const auto cells = static_cast<double>(passing.cells().size());
  const double density = passing.nodes() / std::max(1.0, cells) * graph.cells() / graph.nodes();
  return least + static_cast<uint32_t>(kLeastForSpared * (graph.cells() - cells) * std::min(1.0, density));
}

}  // namespace

uint32_t CellSearch::Least(const VectorGraph& graph, const PassingVectors& passing, uint32_t width) {
  return static_cast<uint32_t>(passing.cells().size()) + LeastInCells(graph, passing, width);
}

void CellSearch::CompareCentres(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing) {
  const std::span<const uint32_t> cells = passing.cells();
  compared_ += static_cast<uint32_t>(cells.size());
  if (passing.interleaved_centres() == nullptr) {
    of_centres_.resize(cells.size());
    return query.ProductsOfFetched(graph.centres(), cells, of_centres_.data());
  }
  const uint32_t blocks = InterleavedBlocks(static_cast<uint32_t>(cells.size()));
  of_centres_.resize(size_t{blocks} * kInterleaved);
  query.ProductsOfInterleaved(passing.interleaved_centres(), blocks, of_centres_.data());
  of_centres_.resize(cells.size());
}

int32_t CellSearch::BarOfSome(std::span<const int32_t> products, uint32_t wanted) {
  const size_t step = products.size() / kSampledProducts + 1;
  sampled_.clear();
  for (size_t i = 0; i < products.size(); i += step) sampled_.push_back(products[i]);
  return BarOf(sampled_, static_cast<uint32_t>(wanted / step + 1));
}

// Appends the cells whose products reach a bar that about `wanted` of them reach, without those appended before, sorted
// by steps: an exact order took longer than all products.
void CellSearch::OrderCells(uint32_t wanted) {
  const std::span<const int32_t> products = of_centres_;
  const int32_t bar = wanted < products.size() ? BarOfSome(products, wanted) : std::numeric_limits<int32_t>::min();
  listed_.resize(products.size() + kListedMore);
  std::span<uint32_t> listed = std::span(listed_).first(ListFrom(products, bar, listed_.data()));
  if (!cells_.empty()) {
    const auto rest = std::ranges::remove_if(listed, [&](uint32_t rank) { return products[rank] >= below_; });
    listed = listed.first(listed.size() - rest.size());
  }
  below_ = std::min<int64_t>(below_, bar);
  int64_t most = bar;
  for (const uint32_t rank : listed) most = std::max<int64_t>(most, products[rank]);
  int64_t least = most;
  for (const uint32_t rank : listed) least = std::min<int64_t>(least, products[rank]);
  const float steps = static_cast<float>(kSteps) / static_cast<float>(most - least + 1);
  const auto step_of = [&](uint32_t rank) {
    return std::min(static_cast<size_t>(static_cast<float>(most - products[rank]) * steps), kSteps - 1);
  };
  std::array<uint32_t, kSteps + 1> begins{};
  for (const uint32_t rank : listed) ++begins[step_of(rank) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  const size_t before = cells_.size();
  cells_.resize(before + listed.size());
  for (const uint32_t rank : listed) cells_[before + begins[step_of(rank)]++] = rank;
}

void CellSearch::List(uint32_t first, uint32_t end) {
  const size_t size = ahead_.size();
  ahead_.resize(size + (end - first));
  std::iota(ahead_.begin() + static_cast<ptrdiff_t>(size), ahead_.end(), first);
}

void CellSearch::ListCell(const VectorGraph& graph, const PassingVectors& passing, uint32_t rank) {
  if (passing.is_packed()) {
    const auto [first, end] = passing.packed(rank);
    return List(first, end);
  }
  for (uint32_t level = graph.levels(); level-- > 0;) {
    const auto [first, end] = graph.cell(passing.cells()[rank], level);
    passing.ListNodes(first, end, &ahead_);
  }
}

void CellSearch::Compare(const CodeQuery& query, const PassingVectors& passing, std::span<const uint32_t> numbers) {
  products_.resize(numbers.size());
  better_.resize(numbers.size() + kListedMore);
  query.ProductsOfFetched(codes_, numbers, products_.data());
  compared_ += static_cast<uint32_t>(numbers.size());
  // Most codes are not among the best.
  const int32_t bar = beam_.bar();
  const uint32_t count = ListFrom(products_, bar == std::numeric_limits<int32_t>::min() ? bar : bar + 1, better_.data());
  const auto last_wanted = [&] { return beam_.size() < wanted_ ? std::numeric_limits<int32_t>::min() : beam_.at(wanted_ - 1).product; };
  const int32_t before = last_wanted();
  for (const uint32_t i : std::span(better_).first(count)) {
    beam_.Add({products_[i], passing.is_packed() ? passing.packed_place(numbers[i]) : numbers[i]});
  }
  const bool is_nearer = beam_.size() < wanted_ || last_wanted() > before;
  in_vain_ = is_nearer ? 0 : in_vain_ + static_cast<uint32_t>(numbers.size());
}

void CellSearch::Begin(const VectorGraph& graph, const PassingVectors& passing, const Start& start) {
  wanted_ = start.wanted;
  compared_ = in_vain_ = 0;
  beam_.Begin(start.kept);
  below_ = std::numeric_limits<int64_t>::max();
  cells_.clear();
  ahead_.clear();
  behind_.clear();
  codes_ = passing.is_packed() ? passing.packed_codes() : graph.codes();
}

WalkCost CellSearch::Scan(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start) {
  Begin(graph, passing, start);
  const uint32_t all = passing.packed_count();
  for (uint32_t first = 0; first < all; first += kScannedTogether) {
    StopIfAsked();
    ahead_.clear();
    List(first, std::min(first + kScannedTogether, all));
    Compare(query, passing, ahead_);
  }
  return {compared_, static_cast<uint32_t>(passing.cells().size())};
}

WalkCost CellSearch::SearchFew(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, Few few) {
  Begin(graph, passing, {few.nearer, 0, few.kept});
  CompareCentres(query, graph, passing);
  OrderCells(few.cells);
  if (cells_.size() > few.cells) cells_.resize(few.cells);
  uint32_t looked_into = 0;
  while (looked_into < cells_.size() && in_vain_ < few.in_vain) {
    StopIfAsked();
    ListCell(graph, passing, cells_[looked_into++]);
    query.Fetch(codes_, ahead_);
    Compare(query, passing, behind_);
    std::swap(ahead_, behind_);
    ahead_.clear();
  }
  Compare(query, passing, behind_);
  return {compared_, looked_into};
}

WalkCost CellSearch::Search(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start) {
  Begin(graph, passing, start);
  const auto cells = static_cast<uint32_t>(passing.cells().size());
  const uint32_t in_vain = ShareOf(passing).in_vain * start.width;
  uint64_t left = LeastInCells(graph, passing, start.width);
  uint64_t wanted = kCellsMore + (left + in_vain) * cells / std::max(1u, passing.nodes());
  CompareCentres(query, graph, passing);
  for (uint32_t rank = 0; rank < cells; ++rank) {
    StopIfAsked();
    while (rank >= cells_.size()) {
      OrderCells(static_cast<uint32_t>(std::min<uint64_t>(wanted, cells)));
      wanted *= kMoreEachTime;
    }
    ListCell(graph, passing, cells_[rank]);
    if (ahead_.size() < kBatch) continue;
    query.Fetch(codes_, ahead_);
    Compare(query, passing, behind_);
    left -= std::min<uint64_t>(left, ahead_.size());
    std::swap(ahead_, behind_);
    ahead_.clear();
    if (left == 0 && in_vain_ >= in_vain) break;
  }
  Compare(query, passing, behind_);
  Compare(query, passing, ahead_);
  return {compared_, static_cast<uint32_t>(cells_.size())};
}

}  // namespace gannet::vectors
