// The vectors of a graph that pass a filter, prepared for searches: by ordinal, by the nodes that have them, and by
// cell.
//
// The codes of the nodes that pass may be *packed*, that is, copied side by side, cell by cell. A search then reads
// nothing else, and has a centre of the passing nodes for each cell.
//
// Preparing reads one number for each vector that passes; it pays for filters that are used more than once. Packing
// copies the codes, which takes ten times as long or more; it pays for filters that are used hundreds of times.
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
  // Maximum number of packed bytes per filter.
  static constexpr uint64_t kPackedBytesMax = uint64_t{40} << 20;

  // `ordinals` has one bit per vector of the graph, the least significant of a word first; missing ones do not pass.
  // Nothing is packed if it would take more than `packed_bytes_max`.
  PassingVectors(const VectorGraph& graph, std::vector<uint64_t> ordinals, uint64_t packed_bytes_max = 0);
  PassingVectors(const PassingVectors&) = delete;
  PassingVectors& operator=(const PassingVectors&) = delete;

  uint32_t count() const { return count_; }
  bool Has(uint32_t ordinal) const { return (ordinals_[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
  // Number of nodes with a vector that passes.
  uint32_t nodes() const { return nodes_; }
  // Appends the places of the passing nodes in [first, end), ascending.
  void ListNodes(uint32_t first, uint32_t end, std::vector<uint32_t>* places) const;
  // The cells with a passing node, ascending.
  std::span<const uint32_t> cells() const { return cells_; }
  bool HasNode(uint32_t place) const { return (places_[place / 64] >> (place % 64) & 1) != 0; }
  // One bit per node that passes.
  std::span<const uint64_t> node_bits() const { return places_; }
  // True if passing nodes are spread over the cells as by chance, and not concentrated on one side.
  bool is_by_chance() const { return is_by_chance_; }
  // True if so many nodes pass that links among these alone lead to nearly all of them.
  bool is_for_graph() const { return is_for_graph_; }

  // Returns after how many searches packing has cost less than it saves; 0 if nothing is to be packed.
  uint32_t PackingPaysAfter(const VectorGraph& graph) const;
  bool is_packed() const { return !packed_places_.empty(); }
  uint32_t packed_count() const { return static_cast<uint32_t>(packed_places_.size()); }
  Codes packed_codes() const { return {packed_codes_, stride_}; }
  // The range of packed codes of the cell at `rank` in cells().
  struct Packed {
    uint32_t first;
    uint32_t end;
  };
  Packed packed(uint32_t rank) const { return {packed_begins_[rank], packed_begins_[rank + 1]}; }
  uint32_t packed_place(uint32_t number) const { return packed_places_[number]; }
  // The centres by rank, interleaved (code_dot.h); may be null. If codes are packed: the mean of the cell's passing
  // nodes, which describes them better than the centre of the whole cell. If the graph is searched and codes have four
  // bits: the centre of the cell. Else null.
  const uint8_t* interleaved_centres() const { return centres_; }

  uint64_t bytes() const {
    return (ordinals_.size() + places_.size()) * sizeof(uint64_t) + packed_memory_.size() +
           (cells_.size() + packed_begins_.size() + packed_places_.size()) * sizeof(uint32_t);
  }

 private:
  void ListCells(const VectorGraph& graph);
  bool IsToBePacked(const VectorGraph& graph, uint64_t bytes_max) const;
  void Pack(const VectorGraph& graph);
  void CopyCodes(const VectorGraph& graph);
  uint8_t* RoomFor(size_t bytes);
  void CopyCentres(const VectorGraph& graph);

  std::vector<uint64_t> ordinals_;
  std::vector<uint64_t> places_;
  std::vector<uint32_t> cells_;
  uint32_t count_ = 0;
  uint32_t nodes_ = 0;
  bool is_by_chance_ = false;
  bool is_for_graph_ = false;
  size_t stride_ = 0;
  std::vector<uint8_t> packed_memory_;
  const uint8_t* packed_codes_ = nullptr;  // in packed_memory_, at a multiple of a cache line
  const uint8_t* centres_ = nullptr;       // in packed_memory_
  std::vector<uint32_t> packed_begins_;    // by rank of the cell, and one more for the end
  std::vector<uint32_t> packed_places_;    // places of nodes, by number of the packed code
};

}  // namespace gannet::vectors
