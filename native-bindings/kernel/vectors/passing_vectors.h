// The vectors of a graph that a filter leaves, prepared for searches: by ordinal, by the nodes that have them, and by the cells of these.
//
// Preparing reads a number for each vector that passes; it is for filters that are asked for more than once.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vector_graph.h"

namespace gannet::vectors {

class PassingVectors {
 public:
  // `ordinals` is a bit for each vector of the graph, the least significant of a word first; what is missing does not pass.
  PassingVectors(const VectorGraph& graph, std::vector<uint64_t> ordinals);

  uint32_t count() const { return count_; }
  bool Has(uint32_t ordinal) const { return (ordinals_[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
  // Nodes with a vector that passes.
  uint32_t nodes() const { return nodes_; }
  // Appends the places of nodes from `first` up to but without `end`, rising.
  void ListNodes(uint32_t first, uint32_t end, std::vector<uint32_t>* places) const;
  // Those with such a node, rising.
  std::span<const uint32_t> cells() const { return cells_; }
  // Whether nearly every cell has its share of them, as where chance passes them.
  bool is_everywhere() const { return is_everywhere_; }
  uint64_t bytes() const { return (ordinals_.size() + places_.size()) * sizeof(uint64_t) + cells_.size() * sizeof(uint32_t); }

 private:
  void ListCells(const VectorGraph& graph);

  std::vector<uint64_t> ordinals_;
  std::vector<uint64_t> places_;
  std::vector<uint32_t> cells_;
  uint32_t count_ = 0;
  uint32_t nodes_ = 0;
  bool is_everywhere_ = false;
};

}  // namespace gannet::vectors
