// Nodes of a graph in cells: each belongs to the centre that it is nearest to, among some times the root of their number (k-means of vectors of length 1).
// Cells that are near to each other have numbers near to each other.
//
// What a filter leaves is found by cells where the links of a graph would lead past most of it (vector_search.h).
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "code_dot.h"
#include "quantizer.h"

namespace gannet::vectors {

struct Cells {
  std::vector<uint32_t> of;     // by node
  std::vector<float> centres;   // of length 1, one behind the other
};

// As many as there are for so many nodes, at least one.
uint32_t CellsFor(uint32_t nodes);

// Of nodes with codes of bytes, `nodes` of them; the cell of `first` is the first of all. Deterministic. Can be stopped.
struct NodeCodes {
  Codes codes;
  uint32_t nodes;
  uint32_t first;
};
Cells FindCells(const NodeCodes& nodes, uint32_t dimensions, const Quantizer& quantizer);

}  // namespace gannet::vectors
