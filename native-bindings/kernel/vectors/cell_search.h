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
  // The nearest of what passes in some of the nearest cells alone: where a walk may begin. Fewer cells where none of so many (`in_vain`) that were compared last
  // is among so many of the nearest (`nearer`).
  struct Few {
    uint32_t cells;
    uint32_t kept;
    uint32_t nearer;
    uint32_t in_vain;
  };
  WalkCost SearchFew(const CodeQuery& query, const VectorGraph& graph, const PassingVectors& passing, Few few);
  // Compares all that were packed.
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
  Codes codes_;  // what is compared: those that were packed, or those of the graph
  uint32_t wanted_ = 0;
  uint32_t compared_ = 0;
  uint32_t in_vain_ = 0;            // compared since one came that is among the wanted
  std::vector<int32_t> of_centres_;  // products of the cells in which something passes
  std::vector<int32_t> sampled_;     // some of these
  std::vector<uint32_t> listed_;     // ranks of those of them from a bar on
  std::vector<uint32_t> cells_;      // ranks of the nearest of these, the nearest first
  int64_t below_ = 0;                // products of those that are not among them
  std::vector<uint32_t> ahead_;
  std::vector<uint32_t> behind_;
  std::vector<int32_t> products_;
  std::vector<uint32_t> better_;
};

}  // namespace gannet::vectors
