#include "cell_search.h"

#include <algorithm>
#include <limits>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

// Codes that are compared at least, and then in vain, for each candidate of the width.
constexpr uint32_t kLeastForWidth = 70;
constexpr uint32_t kInVainForWidth = 30;
// And for each centre that is not compared, where what passes lies together.
constexpr double kLeastForSpared = 2;
// Codes that come from memory while those before them are compared.
constexpr size_t kBatch = 64;
// Cells that are looked into at first beside those that would do if all were equal, and so many times as many when these are not enough.
constexpr uint32_t kCellsMore = 16;
constexpr uint32_t kMoreEachTime = 4;
// Products that are looked at together.
constexpr size_t kProductsTogether = 16;
// Of which a bar is found.
constexpr size_t kSampledProducts = 512;

// How many are not below the bar: a loop that compilers make vectors of.
uint32_t CountFrom(std::span<const int32_t> products, int32_t bar) {
  uint32_t count = 0;
  for (const int32_t product : products) count += product >= bar;
  return count;
}

// A bar that about `wanted` products reach.
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
    if (count == wanted) break;
  }
  return static_cast<int32_t>(low);
}

// Codes in cells, at least. Where what passes lies together fewer centres are compared, and as many codes more: the query is then far from most of it,
// and its centres say less about which are near.
uint32_t LeastInCells(const VectorGraph& graph, const PassingVectors& passing, uint32_t width) {
  const auto cells = static_cast<double>(passing.cells().size());
  const double density = passing.nodes() / std::max(1.0, cells) * graph.cells() / graph.nodes();
  return kLeastForWidth * width + static_cast<uint32_t>(kLeastForSpared * (graph.cells() - cells) * std::min(1.0, density));
}

}  // namespace

uint32_t CellSearch::Least(const VectorGraph& graph, const PassingVectors& passing, uint32_t width) {
  return static_cast<uint32_t>(passing.cells().size()) + LeastInCells(graph, passing, width);
}

void CellSearch::CompareCentres(const CodeQuery& query, const VectorGraph& graph, std::span<const uint32_t> cells) {
  of_centres_.resize(std::max(of_centres_.size(), cells.size()));
  query.ProductsOfFetched(graph.centres(), cells, of_centres_.data());
  compared_ += static_cast<uint32_t>(cells.size());
}

int32_t CellSearch::BarOfSome(std::span<const int32_t> products, uint32_t wanted) {
  const size_t step = products.size() / kSampledProducts + 1;
  sampled_.clear();
  for (size_t i = 0; i < products.size(); i += step) sampled_.push_back(products[i]);
  return BarOf(sampled_, static_cast<uint32_t>(wanted / step + 1));
}

// Those above a bar that about so many are above, and then their order: putting one after the other where it belongs took longer than all products.
void CellSearch::OrderCells(std::span<const uint32_t> cells, uint32_t wanted) {
  const std::span<const int32_t> products = std::span(of_centres_).first(cells.size());
  const int32_t bar = wanted < cells.size() ? BarOfSome(products, wanted) : std::numeric_limits<int32_t>::min();
  cells_.clear();
  for (size_t begin = 0; begin < cells.size(); begin += kProductsTogether) {
    const std::span<const int32_t> block = products.subspan(begin, std::min(kProductsTogether, cells.size() - begin));
    if (CountFrom(block, bar) == 0) continue;
    for (size_t i = 0; i < block.size(); ++i) {
      if (block[i] >= bar) cells_.push_back({block[i], cells[begin + i]});
    }
  }
  std::ranges::sort(cells_, [](const Candidate& a, const Candidate& b) {
    return a.product != b.product ? a.product > b.product : a.place < b.place;
  });
}

void CellSearch::ListNodes(const VectorGraph& graph, const PassingVectors& passing, uint32_t cell) {
  for (uint32_t level = graph.levels(); level-- > 0;) {
    const auto [first, end] = graph.cell(cell, level);
    passing.ListNodes(first, end, &ahead_);
  }
}

void CellSearch::Compare(const CodeQuery& query, const VectorGraph& graph, std::span<const uint32_t> places) {
  products_.resize(std::max(products_.size(), places.size()));
  better_.resize(std::max(better_.size(), places.size()));
  query.ProductsOfFetched(graph.codes(), places, products_.data());
  compared_ += static_cast<uint32_t>(places.size());
  // Most are not among the best: no processor could foresee which.
  const int32_t bar = beam_.bar();
  size_t count = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    better_[count] = {products_[i], places[i]};
    count += products_[i] > bar;
  }
  const auto last_wanted = [&] { return beam_.size() < wanted_ ? std::numeric_limits<int32_t>::min() : beam_.at(wanted_ - 1).product; };
  const int32_t before = last_wanted();
  for (size_t i = 0; i < count; ++i) beam_.Add(better_[i]);
  const bool is_nearer = beam_.size() < wanted_ || last_wanted() > before;
  in_vain_ = is_nearer ? 0 : in_vain_ + static_cast<uint32_t>(places.size());
}

WalkCost CellSearch::Search(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start) {
  wanted_ = start.wanted;
  compared_ = in_vain_ = 0;
  beam_.Begin(start.kept);
  cells_.clear();
  ahead_.clear();
  behind_.clear();
  const std::span<const uint32_t> cells = passing.cells();
  const uint32_t in_vain = kInVainForWidth * start.width;
  uint64_t wanted = kCellsMore + uint64_t{LeastInCells(graph, passing, start.width) + in_vain} * cells.size() / std::max(1u, passing.nodes());
  // Of codes.
  uint64_t left = LeastInCells(graph, passing, start.width);
  CompareCentres(query, graph, cells);
  for (uint32_t rank = 0; rank < cells.size(); ++rank) {
    StopIfAsked();
    while (rank >= cells_.size()) {
      // Those that were looked into are the first again.
      OrderCells(cells, static_cast<uint32_t>(std::min<uint64_t>(wanted, cells.size())));
      wanted *= kMoreEachTime;
    }
    ListNodes(graph, passing, cells_[rank].place);
    if (ahead_.size() < kBatch) continue;
    query.Fetch(graph.codes(), ahead_);
    Compare(query, graph, behind_);
    left -= std::min<uint64_t>(left, ahead_.size());
    std::swap(ahead_, behind_);
    ahead_.clear();
    if (left == 0 && in_vain_ >= in_vain) break;
  }
  Compare(query, graph, behind_);
  Compare(query, graph, ahead_);
  return {compared_, static_cast<uint32_t>(cells_.size())};
}

}  // namespace gannet::vectors
