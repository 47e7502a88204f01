// Sets of vectors for tests, their nearest vectors by a comparison of all, and the recall of a search.
//
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_writer.h"
#include "check.h"

namespace gannet::test {

using namespace gannet::vectors;

struct Set {
  uint32_t dimensions;
  std::vector<float> values;
  uint32_t size() const { return static_cast<uint32_t>(values.size() / dimensions); }
  std::span<const float> of(uint32_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i) * dimensions, dimensions);
  }
};

// Returns vectors of length 1 around centres, as the vectors of texts are.
inline Set Clustered(uint32_t count, uint32_t dimensions, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const uint32_t centres = count / 20 + 1;
  std::vector<float> centre(static_cast<size_t>(centres) * dimensions);
  for (float& value : centre) value = normal(random);
  Set set{dimensions, std::vector<float>(static_cast<size_t>(count) * dimensions)};
  for (uint32_t i = 0; i < count; ++i) {
    const std::span<float> vector = std::span(set.values).subspan(static_cast<size_t>(i) * dimensions, dimensions);
    const size_t of = random() % centres;
    for (uint32_t j = 0; j < dimensions; ++j) vector[j] = centre[of * dimensions + j] + 0.5f * normal(random);
    CHECK(Normalize(vector));
  }
  return set;
}

inline std::vector<uint64_t> RandomBits(uint32_t count, double share, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> bits(count / 64 + 1);
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<double>(random() >> 11) * 0x1p-53 < share) bits[i / 64] |= uint64_t{1} << (i % 64);
  }
  return bits;
}

// Encodes the set with a record per vector, in order, and with a graph however few there are.
inline std::vector<uint8_t> Encode(const Set& set) {
  std::vector<uint32_t> records(set.size());
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(set.size());
  return EncodeVectors({set.dimensions, set.values, records, passages}, {.nodes_min = 0});
}

inline std::vector<uint32_t> Nearest(const Set& set, std::span<const float> query, uint32_t wanted,
                              const std::vector<uint64_t>* allowed = nullptr) {
  std::vector<std::pair<float, uint32_t>> all;
  for (uint32_t i = 0; i < set.size(); ++i) {
    if (allowed != nullptr && ((*allowed)[i / 64] >> (i % 64) & 1) == 0) continue;
    all.emplace_back(-Product(set.of(i), query), i);
  }
  std::sort(all.begin(), all.end());
  std::vector<uint32_t> nearest;
  for (uint32_t i = 0; i < std::min<size_t>(wanted, all.size()); ++i) nearest.push_back(all[i].second);
  return nearest;
}

// Returns a filter that passes the `wanted` vectors nearest to the query.
inline std::vector<uint64_t> NearestBits(const Set& set, std::span<const float> query, uint32_t wanted) {
  std::vector<uint64_t> bits(set.size() / 64 + 1);
  for (const uint32_t ordinal : Nearest(set, query, wanted)) bits[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  return bits;
}

// Removes the last vectors of the set and returns them as queries, which lie among the others as searches lie among texts.
inline Set TakeQueries(Set* set, uint32_t count) {
  const size_t at = set->values.size() - static_cast<size_t>(count) * set->dimensions;
  Set queries{set->dimensions, std::vector<float>(set->values.begin() + static_cast<ptrdiff_t>(at), set->values.end())};
  set->values.resize(at);
  return queries;
}

// Returns the share of the true neighbours that the search finds, over all queries. Checks each neighbour's cosine and order.
inline double RecallOf(const VectorGraph& graph, const Set& set, const Set& queries, SearchRequest request,
                const std::vector<uint64_t>* allowed = nullptr) {
  VectorSearcher searcher;
  size_t found = 0;
  size_t there = 0;
  for (uint32_t q = 0; q < queries.size(); ++q) {
    request.vector = queries.of(q);
    const std::vector<uint32_t> truth = Nearest(set, queries.of(q), request.wanted, allowed);
    const std::span<const Neighbour> neighbours = searcher.Search(graph, request);
    CHECK(neighbours.size() <= request.wanted);
    for (size_t i = 0; i < neighbours.size(); ++i) {
      CHECK_EQ(neighbours[i].cosine, graph.CosineOf(graph.RowOf(neighbours[i].ordinal), queries.of(q)));
      CHECK(std::fabs(neighbours[i].cosine - Product(set.of(neighbours[i].ordinal), queries.of(q))) < 1e-3);
      CHECK(i == 0 || neighbours[i - 1].cosine >= neighbours[i].cosine);
      CHECK(allowed == nullptr || ((*allowed)[neighbours[i].ordinal / 64] >> (neighbours[i].ordinal % 64) & 1) != 0);
      found += static_cast<size_t>(std::count(truth.begin(), truth.end(), neighbours[i].ordinal));
    }
    there += truth.size();
  }
  return static_cast<double>(found) / static_cast<double>(there);
}

}  // namespace gannet::test
