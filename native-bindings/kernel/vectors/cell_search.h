// Finds the nearest of the nodes that pass a filter by their cells: compares the nodes of the nearest cells first,
// until no nearer one comes.
//
// Thread-safety: one search per object.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "best_first.h"
#include "passing_vectors.h"

namespace gannet::vectors {

class CellSearch {
 public:
  struct Start {
    uint32_t wanted;  // at least 1
    uint32_t width;   // how widely to search, in candidates of a walk through the graph
    uint32_t kept;    // number of candidates that are kept
  };
  // Returns about the minimum number of comparisons; if no more nodes pass, comparing all of them is cheaper.
  static uint32_t Least(const VectorGraph& graph, const PassingVectors& passing, uint32_t width);

  // Searches; in the result, `left` is the number of cells.
  WalkCost Search(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start);
  // Finds the nearest passing nodes of a few of the nearest cells, where a walk may begin. Uses fewer cells if none of
  // the last `in_vain` codes compared is among the `nearer` nearest ones.
  struct Few {
    uint32_t cells;
    uint32_t kept;
    uint32_t nearer;
    uint32_t in_vain;
  };
  WalkCost SearchFew(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, Few few);
  // Compares all packed codes.
  WalkCost Scan(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start);
  const Beam& beam() const { return beam_; }

 private:
  void CompareCentres(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing);
  int32_t BarOfSome(std::span<const int32_t> products, uint32_t wanted);
  void OrderCells(uint32_t wanted);
  void Begin(const VectorGraph& graph, const PassingVectors& passing, const Start& start);
  void Compare(const CodeQuery& query, const PassingVectors& passing, std::span<const uint32_t> numbers);
  void List(uint32_t first, uint32_t end);
  void ListCell(const VectorGraph& graph, const PassingVectors& passing, uint32_t rank);

  Beam beam_;
  Codes codes_;  // the codes that are compared: the packed ones, or those of the graph
  uint32_t wanted_ = 0;
  uint32_t compared_ = 0;
  uint32_t in_vain_ = 0;            // number of comparisons since a code was among the wanted ones
  std::vector<int32_t> of_centres_;  // products of the cells that have passing nodes
  std::vector<int32_t> sampled_;     // a sample of of_centres_
  std::vector<uint32_t> listed_;     // ranks of the cells whose product reaches a bar
  std::vector<uint32_t> cells_;      // ranks of the nearest cells, nearest first
  int64_t below_ = 0;                // the cells that are not in cells_ have products below this
  std::vector<uint32_t> ahead_;
  std::vector<uint32_t> behind_;
  std::vector<int32_t> products_;
  std::vector<uint32_t> better_;
};

}  // namespace gannet::vectors
