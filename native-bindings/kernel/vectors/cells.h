// Divides the nodes of a graph into cells by k-means over vectors of length 1: each node belongs to its nearest centre.
// The number of cells is a multiple of the square root of the number of nodes. Cells that are near each other have
// similar numbers.
//
// If a filter passes so few nodes that walking the links of the graph would mostly meet others, the search uses the
// cells (vector_search.h).
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
  std::vector<float> centres;   // of length 1, one after the other
};

// Returns the number of cells for this number of nodes, at least one.
uint32_t CellsFor(uint32_t nodes);

// Codes of the nodes to divide.
struct NodeCodes {
  Codes codes;
  uint32_t nodes;
  uint32_t first;
};
Cells FindCells(const NodeCodes& nodes, uint32_t dimensions, const Quantizer& quantizer);

}  // namespace gannet::vectors
