// The nearest of the nodes that a filter leaves, by their cells: those of the nearest centres are compared first, until nothing nearer comes.
//
// Thread-safety: one search each.
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
    uint32_t width;   // how widely is searched, in candidates of a walk through the graph
    uint32_t kept;    // candidates that are kept
  };
  // What is compared at least, about: where not more pass, comparing all of them takes less.
  static uint32_t Least(const VectorGraph& graph, const PassingVectors& passing, uint32_t width);

  // `left` of the cost are cells.
  WalkCost Search(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, const Start& start);
  const Beam& beam() const { return beam_; }

 private:
  void CompareCentres(const CodeQuery& query, const VectorGraph& graph, std::span<const uint32_t> cells);
  int32_t BarOfSome(std::span<const int32_t> products, uint32_t wanted);
  void OrderCells(std::span<const uint32_t> cells, uint32_t wanted);
  void Compare(const CodeQuery& query, const VectorGraph& graph, std::span<const uint32_t> places);
  void ListNodes(const VectorGraph& graph, const PassingVectors& passing, uint32_t cell);

  Beam beam_;
  uint32_t wanted_ = 0;
  uint32_t compared_ = 0;
  uint32_t in_vain_ = 0;            // compared since one came that is among the wanted
  std::vector<int32_t> of_centres_;  // products of the cells in which something passes
  std::vector<int32_t> sampled_;     // some of these
  std::vector<Candidate> cells_;     // the nearest of these, by falling product
  std::vector<uint32_t> ahead_;
  std::vector<uint32_t> behind_;
  std::vector<int32_t> products_;
  std::vector<Candidate> better_;
};

}  // namespace gannet::vectors
