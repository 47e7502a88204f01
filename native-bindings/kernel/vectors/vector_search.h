// Finds the vectors that are nearest to one, by cosine.
//
// The graph is searched by products of codes, and the best of these are compared by their full vectors in the end, so that a cosine
// that is returned is exact. Few vectors, or few that a filter leaves, are compared one by one instead.
//
// Behind a filter that was prepared (passing_vectors.h) and passes much, the graph of what passes is walked from some nodes that pass and are near. Of others
// the nodes that pass are compared by cells (cell_search.h): no links lead to these alone, and of what does not pass as many times as many would have to be met.
//
// Thread-safety: a VectorSearcher belongs to one thread; graphs are shared.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "best_first.h"
#include "cell_search.h"
#include "passing_vectors.h"
#include "vector_graph.h"

namespace gannet::vectors {

struct Neighbour {
  float cosine;
  uint32_t ordinal;
};

// Which ordinals may be found.
class OrdinalFilter {
 public:
  virtual ~OrdinalFilter() = default;
  virtual bool Has(uint32_t ordinal) const = 0;
  // Of ordinals that it has, about.
  virtual uint32_t count() const = 0;
  // Appends them, in any order.
  virtual void List(std::vector<uint32_t>* ordinals) const = 0;
};

enum class SearchWay : uint8_t { kGraph, kFilteredGraph, kScan, kCells };

inline std::string_view NameOf(SearchWay way) {
  constexpr std::string_view kNames[] = {"graph", "filtered graph", "scan", "cells"};
  return kNames[static_cast<size_t>(way)];
}

struct SearchRequest {
  std::span<const float> vector = {};  // of length 1
  uint32_t wanted = 10;
  uint32_t width = 64;            // candidates that are kept while the graph is searched: more find more of the nearest
  const OrdinalFilter* allowed = nullptr;   // null: all
  const PassingVectors* passing = nullptr;  // of this graph, instead: a filter that was prepared
  bool exact = false;             // compare all that are allowed by their full vectors
};

struct SearchCost {
  SearchWay way = SearchWay::kGraph;
  uint32_t compared = 0;   // codes, and centres of cells
  uint32_t left = 0;       // nodes whose links were followed, or cells that were ordered
};

class VectorSearcher {
 public:
  // The nearest first; of equals the lower ordinal. At most `wanted`. Good until the next call.
  std::span<const Neighbour> Search(const VectorGraph& graph, const SearchRequest& request);
  const SearchCost& cost() const { return cost_; }

 private:
  uint32_t GoDown(const VectorGraph& graph, const CodeQuery& query);
  void SearchGraph(const VectorGraph& graph, const CodeQuery& query, uint32_t width);
  void ScanCodes(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request);
  void SearchCells(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request);
  bool EnterInside(const VectorGraph& graph, const CodeQuery& query, const PassingVectors& passing);
  void EnterByCells(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request, uint32_t width);
  void SearchAmong(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request);
  void CompareCodes(const VectorGraph& graph, const CodeQuery& query, std::span<const uint32_t> places);
  void ScanFully(const VectorGraph& graph, const SearchRequest& request);
  void KeepNearest(uint32_t wanted);
  void CompareFully(const VectorGraph& graph, const SearchRequest& request);

  SearchCost cost_;
  BestFirst search_;
  CellSearch cells_;
  const Beam* best_ = nullptr;  // what the search came to
  Beam beam_;
  MetSet met_;
  std::vector<int8_t> query_;
  std::vector<uint32_t> fresh_;
  std::vector<uint32_t> listed_;
  std::vector<int32_t> products_;
  std::vector<Candidate> entries_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace gannet::vectors
