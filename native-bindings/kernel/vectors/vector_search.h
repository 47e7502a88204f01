// Finds the nearest vectors to a given one, by cosine.
//
// The graph is searched by products of codes. In the end, the best candidates are compared by their full vectors, so
// the returned cosines are exact. If there are few vectors, or few that pass a filter, they are compared one by one
// instead.
//
// With a prepared filter (passing_vectors.h) that passes many nodes, the walk goes through the passing part of the
// graph, from some near nodes that pass. If it passes fewer, the passing nodes are compared by cells (cell_search.h):
// the links would not lead to these nodes alone, and the walk would meet many times as many others.
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

// Defines which ordinals may be found.
class OrdinalFilter {
 public:
  virtual ~OrdinalFilter() = default;
  virtual bool Has(uint32_t ordinal) const = 0;
  // Returns the approximate number of allowed ordinals.
  virtual uint32_t count() const = 0;
  // Appends the allowed ordinals, in any order.
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
  // Number of candidates that are kept while the graph is searched: with more, more of the nearest are found.
  uint32_t width = 64;
  const OrdinalFilter* allowed = nullptr;   // null: all are allowed
  const PassingVectors* passing = nullptr;  // used instead of `allowed`: a prepared filter of this graph
  bool exact = false;             // compare all allowed vectors by their full values
};

struct SearchCost {
  SearchWay way = SearchWay::kGraph;
  uint32_t compared = 0;   // codes, and centres of cells
  uint32_t left = 0;       // nodes whose links were followed, or cells that were sorted
};

class VectorSearcher {
 public:
  // Returns at most `wanted` neighbours, nearest first, ties by ordinal. Valid until the next call.
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
  const Beam* best_ = nullptr;  // the result of the search
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
