// Finds the vectors that are nearest to one, by cosine.
//
// The graph is searched by products of codes, and the best of these are compared by their full vectors in the end, so that a cosine
// that is returned is exact. Few vectors, or few that a filter leaves, are compared one by one instead.
//
// Thread-safety: a VectorSearcher belongs to one thread; graphs are shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "best_first.h"
#include "vector_graph.h"

namespace gannet::vectors {

struct Neighbour {
  float cosine;
  uint32_t ordinal;
};

// Which ordinals may be found: a bit each, the first in the lowest bit of the first word.
struct Allowed {
  const uint64_t* bits = nullptr;  // null: all
  uint32_t count = 0;              // of ordinals that are allowed
  bool Has(uint32_t ordinal) const { return (bits[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
};

enum class SearchWay { kGraph, kFilteredGraph, kScan };

struct SearchRequest {
  std::span<const float> vector = {};  // of length 1
  uint32_t wanted = 10;
  uint32_t width = 64;            // candidates that are kept while the graph is searched: more find more of the nearest
  Allowed allowed = {};
  bool exact = false;             // compare all that are allowed
};

struct SearchCost {
  SearchWay way = SearchWay::kGraph;
  uint32_t compared = 0;   // codes
  uint32_t left = 0;       // nodes whose links were followed
};

class VectorSearcher {
 public:
  // The nearest first; of equals the lower ordinal. At most `wanted`.
  std::span<const Neighbour> Search(const VectorGraph& graph, const SearchRequest& request);
  const SearchCost& cost() const { return cost_; }

 private:
  SearchWay Choose(const VectorGraph& graph, const SearchRequest& request) const;
  uint32_t GoDown(const VectorGraph& graph, const CodeQuery& query);
  void SearchGraph(const VectorGraph& graph, const CodeQuery& query, uint32_t width);
  void SearchFiltered(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request);
  void ScanCodes(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request);
  static bool IsAllowed(const VectorGraph& graph, uint32_t place, const Allowed& allowed);
  uint32_t GatherAllowed(const VectorGraph& graph, uint32_t place, const Allowed& allowed);
  void CompareFully(const VectorGraph& graph, const SearchRequest& request);

  SearchCost cost_;
  Beam beam_;
  Beam found_;
  MetSet met_;
  std::vector<int8_t> query_;
  std::vector<uint32_t> fresh_;
  std::vector<int32_t> products_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace gannet::vectors
