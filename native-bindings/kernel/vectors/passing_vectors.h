// The vectors of a graph that a filter leaves, prepared for searches: by ordinal, by the nodes that have them, and by the cells of these.
//
// Codes of the nodes that pass may be *packed* side by side, cell by cell: then a search reads nothing else, and knows a centre of them for each cell.
//
// Preparing reads a number for each vector that passes; it is for filters that are asked for more than once. Packing copies the codes, which takes ten times as
// long and more; it is for those that are asked for hundreds of times.
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
  // What is packed of one filter at most.
  static constexpr uint64_t kPackedBytesMax = uint64_t{40} << 20;

  // `ordinals` is a bit for each vector of the graph, the least significant of a word first; what is missing does not pass.
  // Nothing is packed where that would be more than `packed_bytes_max`.
  PassingVectors(const VectorGraph& graph, std::vector<uint64_t> ordinals, uint64_t packed_bytes_max = 0);
  PassingVectors(const PassingVectors&) = delete;
  PassingVectors& operator=(const PassingVectors&) = delete;

  uint32_t count() const { return count_; }
  bool Has(uint32_t ordinal) const { return (ordinals_[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
  // Nodes with a vector that passes.
  uint32_t nodes() const { return nodes_; }
  // Appends the places of nodes from `first` up to but without `end`, rising.
  void ListNodes(uint32_t first, uint32_t end, std::vector<uint32_t>* places) const;
  // Those with such a node, rising.
  std::span<const uint32_t> cells() const { return cells_; }
  bool HasNode(uint32_t place) const { return (places_[place / 64] >> (place % 64) & 1) != 0; }
  // A bit for each node.
  std::span<const uint64_t> node_bits() const { return places_; }
  // Whether cells have as many of them as chance would put there; not where they lie on one side.
  bool is_by_chance() const { return is_by_chance_; }
  // Whether so many pass that links between these alone lead to nearly all of them.
  bool is_for_graph() const { return is_for_graph_; }

  // After how many searches packing has cost less than it spares; 0 where nothing is to be packed.
  uint32_t PackingPaysAfter(const VectorGraph& graph) const;
  bool is_packed() const { return !packed_places_.empty(); }
  uint32_t packed_count() const { return static_cast<uint32_t>(packed_places_.size()); }
  Codes packed_codes() const { return {packed_codes_, stride_}; }
  // Of the cell at `rank` among cells(): numbers of packed codes.
  struct Packed {
    uint32_t first;
    uint32_t end;
  };
  Packed packed(uint32_t rank) const { return {packed_begins_[rank], packed_begins_[rank + 1]}; }
  uint32_t packed_place(uint32_t number) const { return packed_places_[number]; }
  // By rank, interleaved (code_dot.h): where codes are packed the mean of the cell's, which says more of what passes than the centre of all that is in the cell; where
  // the graph is searched and codes are of four bits this centre. Else null.
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
  const uint8_t* packed_codes_ = nullptr;  // in it, at a multiple of a line of memory
  const uint8_t* centres_ = nullptr;       // in it, too
  std::vector<uint32_t> packed_begins_;    // by rank of the cell, and behind the last
  std::vector<uint32_t> packed_places_;    // of nodes, by number
};

}  // namespace gannet::vectors
