#include "cells.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

// With more cells a search compares more centres, with fewer cells more of their nodes.
constexpr double kCellsOfRoot = 7;
constexpr uint32_t kNodesOfCellMin = 16;
constexpr uint32_t kSampledOfCell = 16;
constexpr int kRounds = 5;
// Centres are grouped, and a node is compared with the centres of this number of near groups.
constexpr uint32_t kGroupsLookedAt = 6;

// The centres: vectors of length 1, and their codes.
class Centres {
 public:
  Centres(uint32_t count, uint32_t dimensions, const Quantizer& quantizer)
      : count_(count),
        dimensions_(dimensions),
        padded_(PaddedDimensions(dimensions)),
        quantizer_(quantizer),
        values_(size_t{count} * dimensions),
        codes_(size_t{count} * padded_),
        products_(count) {}

  uint32_t count() const { return count_; }
  std::span<const float> of(uint32_t centre) const { return std::span(values_).subspan(size_t{centre} * dimensions_, dimensions_); }
  const uint8_t* codes_of(uint32_t centre) const { return &codes_[size_t{centre} * padded_]; }

  // Sets the centre to the direction of `sum`; keeps it if `sum` has none.
  void Set(uint32_t centre, std::span<const float> sum) {
    std::vector<float> vector(sum.begin(), sum.end());
    if (!Normalize(vector)) return;
    std::ranges::copy(vector, values_.begin() + static_cast<ptrdiff_t>(size_t{centre} * dimensions_));
    quantizer_.ToCodes(vector, std::span(codes_).subspan(size_t{centre} * padded_, padded_));
  }
  // Returns the products with some of the centres, valid until the next call.
  std::span<const int32_t> Products(const CodeQuery& query, std::span<const uint32_t> some) {
    query.ProductsOfFetched({codes_.data(), padded_}, some, products_.data());
    return std::span(products_).first(some.size());
  }
  uint32_t Nearest(const CodeQuery& query, std::span<const uint32_t> some) {
    const std::span<const int32_t> products = Products(query, some);
    return some[static_cast<size_t>(std::ranges::max_element(products) - products.begin())];
  }

 private:
  uint32_t count_;
  uint32_t dimensions_;
  uint32_t padded_;
  const Quantizer& quantizer_;
  std::vector<float> values_;
  std::vector<uint8_t> codes_;
  std::vector<int32_t> products_;
};

std::vector<uint32_t> FirstOf(uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

class CellFinder {
 public:
  CellFinder(const NodeCodes& nodes, uint32_t dimensions, const Quantizer& quantizer)
      : codes_(nodes.codes),
        nodes_(nodes.nodes),
        first_(nodes.first),
        dimensions_(dimensions),
        centres_(CellsFor(nodes_), dimensions, quantizer),
        leaders_(static_cast<uint32_t>(std::sqrt(centres_.count())), dimensions, quantizer),
        all_leaders_(FirstOf(leaders_.count())),
        groups_(leaders_.count()),
        components_(PaddedDimensions(dimensions)) {}

  Cells Find() {
    const uint32_t sampled = std::min(nodes_, centres_.count() * kSampledOfCell);
    std::vector<uint32_t> sample(sampled);
    for (uint32_t i = 0; i < sampled; ++i) sample[i] = static_cast<uint32_t>(uint64_t{i} * nodes_ / sampled);
    std::vector<float> vector(dimensions_);
    for (uint32_t cell = 0; cell < centres_.count(); ++cell) {
      std::ranges::fill(vector, 0.0f);
      AddTo(codes_.of(sample[uint64_t{cell} * sampled / centres_.count()]), vector);
      centres_.Set(cell, vector);
    }
    for (int round = 0; round < kRounds; ++round) {
      Group();
      MoveCentres(sample);
    }
    Group();
    Cells cells;
    cells.of.resize(nodes_);
    for (uint32_t node = 0; node < nodes_; ++node) cells.of[node] = CellOf(codes_.of(node));
    Number(&cells);
    return cells;
  }

 private:
  // Numbers the cells: the group of the first node comes before the others, and its cell before the others of the
  // group.
  void Number(Cells* cells) {
    const uint32_t first = cells->of[first_];
    const auto first_group = std::ranges::find_if(groups_, [&](const auto& group) { return std::ranges::count(group, first) > 0; });
    std::ranges::stable_partition(*first_group, [&](uint32_t cell) { return cell == first; });
    std::vector<uint32_t> order = all_leaders_;
    std::swap(order.front(), order[static_cast<size_t>(first_group - groups_.begin())]);
    std::vector<uint32_t> number_of(centres_.count());
    uint32_t next = 0;
    for (const uint32_t group : order) {
      for (const uint32_t cell : groups_[group]) {
        std::ranges::copy(centres_.of(cell), std::back_inserter(cells->centres));
        number_of[cell] = next++;
      }
    }
    for (uint32_t& cell : cells->of) cell = number_of[cell];
  }

  void AddTo(const uint8_t* codes, std::span<float> sum) const {
    for (uint32_t i = 0; i < dimensions_; ++i) sum[i] += static_cast<float>(codes[i] - kZeroCode);
  }
  CodeQuery QueryOf(const uint8_t* codes) {
    CodeQuery::FromCodes(codes, static_cast<uint32_t>(components_.size()), components_.data());
    return CodeQuery(components_.data(), static_cast<uint32_t>(components_.size()));
  }

  void MoveCentres(std::span<const uint32_t> sample) {
    std::vector<float> sums(size_t{centres_.count()} * dimensions_);
    const auto sum = [&](uint32_t cell) { return std::span(sums).subspan(size_t{cell} * dimensions_, dimensions_); };
    for (const uint32_t node : sample) AddTo(codes_.of(node), sum(CellOf(codes_.of(node))));
    for (uint32_t cell = 0; cell < centres_.count(); ++cell) centres_.Set(cell, sum(cell));
  }

  // Groups the centres by leaders: some of the centres, each moved once to the mean of those nearest to it.
  void Group() {
    for (const uint32_t group : all_leaders_) leaders_.Set(group, centres_.of(LeaderAt(group)));
    PutIntoGroups();
    for (const uint32_t group : all_leaders_) {
      std::vector<float> sum(dimensions_);
      for (const uint32_t cell : groups_[group]) std::ranges::transform(sum, centres_.of(cell), sum.begin(), std::plus{});
      leaders_.Set(group, sum);
    }
    PutIntoGroups();
  }
  uint32_t LeaderAt(uint32_t group) const {
    return static_cast<uint32_t>(uint64_t{group} * centres_.count() / leaders_.count());
  }
  void PutIntoGroups() {
    for (std::vector<uint32_t>& group : groups_) group.clear();
    for (uint32_t cell = 0; cell < centres_.count(); ++cell) {
      StopIfAsked();
      groups_[leaders_.Nearest(QueryOf(centres_.codes_of(cell)), all_leaders_)].push_back(cell);
    }
  }

  uint32_t CellOf(const uint8_t* codes) {
    StopIfAsked();
    const CodeQuery query = QueryOf(codes);
    const std::span<const int32_t> products = leaders_.Products(query, all_leaders_);
    nearest_ = all_leaders_;
    const uint32_t looked_at = std::min(kGroupsLookedAt, leaders_.count());
    std::ranges::partial_sort(nearest_, nearest_.begin() + looked_at, std::greater{}, [&](uint32_t group) { return products[group]; });
    looked_at_.clear();
    for (const uint32_t group : std::span(nearest_).first(looked_at)) {
      looked_at_.insert(looked_at_.end(), groups_[group].begin(), groups_[group].end());
    }
    return centres_.Nearest(query, looked_at_);
  }

  const Codes codes_;
  const uint32_t nodes_;
  const uint32_t first_;
  const uint32_t dimensions_;
  Centres centres_;
  Centres leaders_;
  const std::vector<uint32_t> all_leaders_;
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<int8_t> components_;
  std::vector<uint32_t> nearest_;
  std::vector<uint32_t> looked_at_;
};

}  // namespace

uint32_t CellsFor(uint32_t nodes) {
  const auto cells = static_cast<uint32_t>(kCellsOfRoot * std::sqrt(nodes));
  return std::max(1u, std::min(cells, nodes / kNodesOfCellMin));
}

Cells FindCells(const NodeCodes& nodes, uint32_t dimensions, const Quantizer& quantizer) {
  return CellFinder(nodes, dimensions, quantizer).Find();
}

}  // namespace gannet::vectors
