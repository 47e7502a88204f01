// Compares searches of vectors with filters with a scan of all vectors that pass.
#include <cstring>

#include "bit_filter.h"
#include "vector_sets.h"

namespace gannet::test {

TEST(vectors_nearest_are_found_with_a_filter) {
  Set set = Clustered(6040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  for (const double share : {1.0, 0.8, 0.5, 0.1, 0.01, 0.001, 0.0}) {
    const std::vector<uint64_t> bits = RandomBits(set.size(), share, 17);
    const BitFilter filter(bits);
    const SearchRequest request{.width = 20, .allowed = &filter};
    if (filter.count() > 0) CHECK(RecallOf(graph, set, queries, request, &bits) >= 0.95);
    // The passing vectors lie together, far from most queries. The walk through the graph must reach them.
    const auto count = static_cast<uint32_t>(share * set.size());
    if (count == 0) continue;
    const std::vector<uint64_t> near = NearestBits(set, queries.of(1), count);
    const BitFilter near_filter(near);
    const SearchRequest together{.width = 20, .allowed = &near_filter};
    CHECK(RecallOf(graph, set, queries, together, &near) >= 0.9);
  }
}

TEST(vectors_that_pass_are_listed_by_nodes_and_cells) {
  std::mt19937_64 random(21);
  for (const uint32_t count : {1u, 64u, 700u, 5000u}) {
    Set set = Clustered(count, 8, count);
    // Makes some vectors equal.
    for (uint32_t i = 0; i + 1 < count; i += 7) std::copy_n(set.of(i).begin(), 8, set.values.begin() + (i + 1) * 8);
    const std::vector<uint8_t> bytes = Encode(set);
    VerifyVectors(bytes);
    const VectorGraph graph(bytes);
    CHECK(graph.cells() > 0);
    for (const double share : {0.0, 0.01, 0.5, 1.0}) {
      const std::vector<uint64_t> bits = RandomBits(count, share, static_cast<uint32_t>(random()));
      const BitFilter filter(bits);
      const PassingVectors passing(graph, bits, PassingVectors::kPackedBytesMax);
      CHECK_EQ(passing.count(), filter.count());
      std::vector<bool> is_passing(graph.nodes());
      for (uint32_t ordinal = 0; ordinal < count; ++ordinal) {
        CHECK_EQ(passing.Has(ordinal), filter.Has(ordinal));
        if (filter.Has(ordinal)) is_passing[graph.place(ordinal)] = true;
      }
      CHECK_EQ(passing.nodes(), static_cast<uint32_t>(std::count(is_passing.begin(), is_passing.end(), true)));
      // Every node is in one cell, and a cell is listed if one of its nodes passes.
      std::vector<uint32_t> listed, cells;
      uint32_t met = 0;
      for (uint32_t cell = 0; cell < graph.cells(); ++cell) {
        const size_t before = listed.size();
        for (uint32_t level = 0; level < graph.levels(); ++level) {
          const auto [first, end] = graph.cell(cell, level);
          passing.ListNodes(first, end, &listed);
          met += end - first;
        }
        if (listed.size() > before) cells.push_back(cell);
      }
      CHECK_EQ(met, graph.nodes());
      CHECK(std::ranges::equal(cells, passing.cells()));
      std::ranges::sort(listed);
      std::vector<uint32_t> all;
      passing.ListNodes(0, graph.nodes(), &all);
      CHECK(all == listed);
      for (const uint32_t place : all) CHECK(is_passing[place]);
      CHECK_EQ(all.size(), passing.nodes());
      // The packed codes are those of the passing nodes, cell by cell.
      CHECK_EQ(passing.is_packed(), passing.nodes() > 0 && !passing.is_for_graph());
      const PassingVectors not_packed(graph, bits);
      CHECK(!not_packed.is_packed());
      CHECK_EQ(not_packed.PackingPaysAfter(graph) > 0, passing.is_packed());
      CHECK_EQ(passing.PackingPaysAfter(graph), 0u);
      CHECK_EQ(passing.interleaved_centres() != nullptr, passing.is_packed());
      if (!passing.is_packed()) continue;
      CHECK_EQ(passing.packed_count(), passing.nodes());
      const size_t bytes_of_codes = graph.bytes_of_codes();
      for (uint32_t rank = 0; rank < passing.cells().size(); ++rank) {
        const auto [first, end] = passing.packed(rank);
        CHECK(first < end);
        for (uint32_t number = first; number < end; ++number) {
          const uint32_t place = passing.packed_place(number);
          CHECK(passing.HasNode(place));
          CHECK(std::memcmp(passing.packed_codes().of(number), graph.codes().of(place), bytes_of_codes) == 0);
        }
      }
    }
  }
}

TEST(vectors_nearest_are_found_with_a_prepared_filter) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  VectorSearcher searcher;
  std::vector<SearchWay> ways;
  for (const double share : {1.0, 0.6, 0.25, 0.1, 0.001, 0.0}) {
    const std::vector<uint64_t> together = NearestBits(set, queries.of(1), static_cast<uint32_t>(share * set.size()));
    for (const auto& [bits, packed_bytes_max] : std::vector<std::pair<std::vector<uint64_t>, uint64_t>>{
             {RandomBits(set.size(), share, 17), PassingVectors::kPackedBytesMax},
             {RandomBits(set.size(), share, 17), 0},
             {together, PassingVectors::kPackedBytesMax},
             {together, 0}}) {
      const PassingVectors passing(graph, bits, packed_bytes_max);
      const SearchRequest request{.vector = queries.of(0), .width = 20, .passing = &passing};
      const size_t ten = std::min(10u, passing.count());
      CHECK_EQ(searcher.Search(graph, request).size(), ten);
      ways.push_back(searcher.cost().way);
      if (passing.count() > 0) CHECK(RecallOf(graph, set, queries, request, &bits) >= 0.95);
      // If more are wanted than pass, all that pass are found.
      const SearchRequest more{.vector = queries.of(0), .wanted = 4000, .width = 10, .passing = &passing};
      const size_t all = std::min(4000u, passing.count());
      CHECK_EQ(searcher.Search(graph, more).size(), all);
      if (passing.count() > 0) CHECK(RecallOf(graph, set, queries, {.passing = &passing, .exact = true}, &bits) >= 0.999);
    }
  }
  for (const SearchWay way : {SearchWay::kFilteredGraph, SearchWay::kCells, SearchWay::kScan}) CHECK(std::ranges::count(ways, way) > 0);
}

// Half of all vectors pass: random ones, one side, or every other cell. The search walks the graph of those that pass, and packs nothing.
TEST(vectors_nearest_are_found_if_half_of_all_pass) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  const std::vector<uint64_t> on_one_side = NearestBits(set, queries.of(1), set.size() / 2);
  std::vector<uint64_t> in_islands(set.size() / 64 + 1);
  for (uint32_t cell = 0; cell < graph.cells(); cell += 2) {
    for (uint32_t level = 0; level < graph.levels(); ++level) {
      const auto [first, end] = graph.cell(cell, level);
      for (uint32_t place = first; place < end; ++place) {
        for (auto [row, last] = graph.rows(place); row < last; ++row) in_islands[graph.ordinal(row) / 64] |= uint64_t{1} << (graph.ordinal(row) % 64);
      }
    }
  }
  VectorSearcher searcher;
  for (const std::vector<uint64_t>& bits : {RandomBits(set.size(), 0.5, 17), on_one_side, in_islands}) {
    const PassingVectors passing(graph, bits, PassingVectors::kPackedBytesMax);
    CHECK(passing.is_for_graph());
    CHECK(!passing.is_packed());
    CHECK_EQ(passing.PackingPaysAfter(graph), 0u);
    // The interleaved centres are those of the graph in another order.
    CHECK(graph.bits() == CodeBits::kFour);
    std::vector<uint8_t> centres(size_t{InterleavedBlocks(static_cast<uint32_t>(passing.cells().size()))} * kInterleaved * graph.centres().stride);
    for (uint32_t rank = 0; rank < passing.cells().size(); ++rank) {
      PutInterleaved(graph.centres().of(passing.cells()[rank]), graph.bytes_of_codes(), rank, centres.data());
    }
    CHECK(std::memcmp(passing.interleaved_centres(), centres.data(), centres.size()) == 0);
    const SearchRequest request{.vector = queries.of(0), .wanted = 10, .width = 40, .passing = &passing};
    CHECK_EQ(searcher.Search(graph, request).size(), size_t{10});
    CHECK(searcher.cost().way == SearchWay::kFilteredGraph);
    CHECK(searcher.cost().compared < passing.nodes() / 2);
    CHECK(RecallOf(graph, set, queries, request, &bits) >= 0.95);
  }
}

// A walk may end before it has left as many nodes as its width, once nothing nearer was found for a while.
TEST(vectors_walk_with_a_filter_ends_early_if_nothing_nearer_is_found) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  const std::vector<uint64_t> bits = RandomBits(set.size(), 0.8, 17);
  const PassingVectors passing(graph, bits);
  SearchRequest request{.wanted = 100, .width = 200, .passing = &passing};
  VectorSearcher searcher;
  uint32_t left = 0;
  for (uint32_t q = 0; q < queries.size(); ++q) {
    request.vector = queries.of(q);
    CHECK_EQ(searcher.Search(graph, request).size(), size_t{100});
    CHECK(searcher.cost().way == SearchWay::kFilteredGraph);
    left += searcher.cost().left;
  }
  CHECK(left < queries.size() * request.width * 3 / 4);
  request.wanted = 10;
  CHECK(RecallOf(graph, set, queries, request, &bits) >= 0.95);
}

// A query deep inside the passing region needs no cells, so it compares about as much as without a filter. A query deep outside still finds the nearest that pass.
TEST(vectors_are_found_for_queries_deep_inside_and_outside_the_passing_region) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  const std::vector<uint64_t> inside = NearestBits(set, queries.of(1), set.size() * 2 / 5);
  const PassingVectors passing(graph, inside);
  CHECK(passing.is_for_graph() && !passing.is_by_chance());
  VectorSearcher searcher;
  SearchRequest request{.vector = queries.of(1), .wanted = 10, .width = 60};
  searcher.Search(graph, request);
  const uint32_t without_filter = searcher.cost().compared;
  request.passing = &passing;
  searcher.Search(graph, request);
  CHECK(searcher.cost().compared < without_filter * 5 / 4);
  Set outside{set.dimensions, {}};
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 40; ++i) {
    for (const float value : queries.of(1)) outside.values.push_back(0.15f * normal(random) - value);
    CHECK(Normalize(std::span(outside.values).last(set.dimensions)));
  }
  request = {.vector = outside.of(0), .wanted = 50, .width = 80, .passing = &passing};
  CHECK_EQ(searcher.Search(graph, request).size(), size_t{50});
  CHECK(searcher.cost().way == SearchWay::kFilteredGraph);
  CHECK(RecallOf(graph, set, outside, request, &inside) >= 0.9);
}

// Queries far from all vectors, for which a walk without a filter misses some neighbours, must not miss more with a filter.
TEST(vectors_recall_is_not_lower_with_a_filter) {
  Set set = Clustered(12'060, 96, 3);
  Set queries = TakeQueries(&set, 60);
  std::mt19937_64 random(19);
  std::normal_distribution<float> normal;
  for (float& value : queries.values) value += 0.1f * normal(random);
  for (uint32_t i = 0; i < queries.size(); ++i) CHECK(Normalize(std::span(queries.values).subspan(size_t{i} * set.dimensions, set.dimensions)));
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  const std::vector<uint64_t> on_one_side = NearestBits(set, queries.of(1), set.size() / 2);
  SearchRequest request{.wanted = 50, .width = 50};
  const double of_all = RecallOf(graph, set, queries, request);
  for (const std::vector<uint64_t>& bits : {RandomBits(set.size(), 0.5, 17), RandomBits(set.size(), 0.35, 18), on_one_side}) {
    const PassingVectors passing(graph, bits);
    CHECK(passing.is_for_graph());
    request.passing = &passing;
    CHECK(RecallOf(graph, set, queries, request, &bits) >= of_all);
  }
}

TEST(vectors_are_scanned_if_those_that_pass_are_far_from_the_query) {
  Set set = Clustered(10'040, 16, 4);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  const std::vector<uint64_t> bits = NearestBits(set, queries.of(1), set.size() / 2);
  const BitFilter filter(bits);
  VectorSearcher searcher;
  uint32_t by_graph = 0, by_scan = 0;
  for (uint32_t q = 0; q < queries.size(); ++q) {
    CHECK_EQ(searcher.Search(graph, {.vector = queries.of(q), .width = 20, .allowed = &filter}).size(), 10u);
    by_graph += searcher.cost().way == SearchWay::kFilteredGraph;
    by_scan += searcher.cost().way == SearchWay::kScan;
  }
  CHECK(by_graph > 0 && by_scan > 0);
  CHECK(RecallOf(graph, set, queries, {.width = 20, .allowed = &filter}, &bits) >= 0.95);
}

}  // namespace gannet::test
