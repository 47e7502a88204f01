// Vectors: products of codes, graphs and what is found in them, against a comparison of all vectors one by one.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "../kernel/common/bytes.h"
#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_writer.h"
#include "bit_filter.h"
#include "check.h"

namespace gannet::test {
namespace {

using namespace gannet::vectors;

struct Set {
  uint32_t dimensions;
  std::vector<float> values;
  uint32_t size() const { return static_cast<uint32_t>(values.size() / dimensions); }
  std::span<const float> of(uint32_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i) * dimensions, dimensions);
  }
};

// Vectors of length 1 around centres, as those of texts are.
Set Clustered(uint32_t count, uint32_t dimensions, uint32_t seed) {
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

std::vector<uint64_t> RandomBits(uint32_t count, double share, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> bits(count / 64 + 1);
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<double>(random() >> 11) * 0x1p-53 < share) bits[i / 64] |= uint64_t{1} << (i % 64);
  }
  return bits;
}

// A record each, by their order; always with a graph.
std::vector<uint8_t> Encode(const Set& set) {
  std::vector<uint32_t> records(set.size());
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(set.size());
  return EncodeVectors({set.dimensions, set.values, records, passages}, {.nodes_min = 0});
}

std::vector<uint32_t> Nearest(const Set& set, std::span<const float> query, uint32_t wanted,
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

// The last of the set, taken out of it: they lie among the others, as searches lie among texts.
Set TakeQueries(Set* set, uint32_t count) {
  const size_t at = set->values.size() - static_cast<size_t>(count) * set->dimensions;
  Set queries{set->dimensions, std::vector<float>(set->values.begin() + static_cast<ptrdiff_t>(at), set->values.end())};
  set->values.resize(at);
  return queries;
}

// The share of the true neighbours that are found, over all queries.
double RecallOf(const VectorGraph& graph, const Set& set, const Set& queries, SearchRequest request,
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

// Of 40 vectors, with what a block has beside them.
std::vector<int32_t> InterleavedProducts(const CodeQuery& query, const std::vector<uint8_t>& codes, uint32_t bytes) {
  std::vector<uint8_t> blocks(size_t{InterleavedBlocks(40)} * kInterleaved * bytes);
  for (uint32_t place = 0; place < 40; ++place) PutInterleaved(&codes[place * bytes], bytes, place, blocks.data());
  std::vector<int32_t> products(size_t{InterleavedBlocks(40)} * kInterleaved);
  query.ProductsOfInterleaved(blocks.data(), InterleavedBlocks(40), products.data());
  products.resize(40);
  return products;
}

}  // namespace

TEST(vectors_products_are_those_of_each_component) {
  std::mt19937_64 random(5);
  for (const uint32_t padded : {64u, 128u, 192u, 1024u}) {
    std::vector<uint8_t> codes(padded * 40);
    std::vector<int8_t> query(padded);
    // The greatest and least of all, too: no version may run over.
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random() % 3 == 0 ? 255 : 1 + random() % 255);
    for (int8_t& component : query) component = static_cast<int8_t>(random() % 3 == 0 ? 127 : static_cast<int>(random() % 255) - 127);
    std::vector<uint32_t> places(40);
    std::iota(places.begin(), places.end(), 0u);
    std::vector<int32_t> products(40);
    const CodeQuery code_query(query.data(), padded);
    code_query.Products({codes.data(), padded}, places, products.data());
    CHECK(InterleavedProducts(code_query, codes, padded) == products);
    for (const uint32_t place : places) {
      int32_t expected = 0;
      for (uint32_t i = 0; i < padded; ++i) expected += (codes[place * padded + i] - 128) * query[i];
      CHECK_EQ(products[place], expected);
      CHECK_EQ(code_query.Product(&codes[place * padded]), expected);
    }
  }
  for (const uint32_t bytes : {64u, 128u, 192u, 1024u}) {
    std::vector<uint8_t> codes(bytes * 40);
    std::vector<int8_t> query(2 * bytes);
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random() % 256);
    for (int8_t& component : query) component = static_cast<int8_t>(random() % 3 == 0 ? 127 : static_cast<int>(random() % 255) - 127);
    std::vector<uint32_t> places(40);
    std::iota(places.begin(), places.end(), 0u);
    std::vector<int32_t> products(40), fetched(40);
    const CodeQuery code_query(query.data(), bytes, CodeBits::kFour);
    code_query.Products({codes.data(), bytes}, places, products.data());
    code_query.Fetch({codes.data(), bytes}, places);
    code_query.ProductsOfFetched({codes.data(), bytes}, places, fetched.data());
    CHECK(products == fetched);
    CHECK(InterleavedProducts(code_query, codes, bytes) == products);
    for (const uint32_t place : places) {
      int32_t expected = 0;
      for (uint32_t i = 0; i < 2 * bytes; ++i) {
        const uint8_t both = codes[place * bytes + i / 128 * 64 + i % 64];
        expected += (i % 128 < 64 ? both & 0xf : both >> 4) * query[i];
      }
      CHECK_EQ(products[place], expected);
      CHECK_EQ(code_query.Product(&codes[place * bytes]), expected);
    }
  }
  for (const uint32_t size : {1u, 15u, 16u, 17u, 384u, 1000u}) {
    const Set two = Clustered(2, size, size);
    double expected = 0;
    for (uint32_t i = 0; i < size; ++i) expected += static_cast<double>(two.of(0)[i]) * two.of(1)[i];
    CHECK(std::fabs(Product(two.of(0), two.of(1)) - expected) < 1e-5);
  }
}

// Products of the codes have, but for what the centres add, the order and the size of those of the vectors.
TEST(vectors_of_four_bits_are_about_the_vectors) {
  for (const uint32_t dimensions : {1u, 65u, 128u, 200u, 384u}) {
    Set set = Clustered(400, dimensions, dimensions);
    // A dimension that is greater than the others, one that lies elsewhere, and one in which all are alike.
    for (uint32_t i = 0; i < set.size() && dimensions > 3; ++i) {
      float* const vector = &set.values[static_cast<size_t>(i) * dimensions];
      vector[0] *= 20;
      vector[1] += 3;
      vector[2] = 0.25f;
    }
    const std::vector<float> numbers = FourBitScale::Of(set.values, dimensions);
    const FourBitScale scale(numbers);
    std::vector<uint8_t> codes(BytesOfCodes(dimensions, CodeBits::kFour));
    std::vector<int8_t> query(QueryComponents(dimensions, CodeBits::kFour));
    scale.ToQuery(set.of(7), query);
    std::vector<double> estimates, products;
    for (uint32_t i = 0; i < set.size(); ++i) {
      scale.ToCodes(set.of(i), codes);
      estimates.push_back(CodeQuery(query.data(), static_cast<uint32_t>(codes.size()), CodeBits::kFour).Product(codes.data()));
      products.push_back(Product(set.of(i), set.of(7)));
    }
    const auto mean = [](const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size()); };
    const double a = mean(estimates), b = mean(products);
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < products.size(); ++i) {
      ab += (estimates[i] - a) * (products[i] - b);
      aa += (estimates[i] - a) * (estimates[i] - a);
      bb += (products[i] - b) * (products[i] - b);
    }
    CHECK(ab / std::sqrt(aa * bb) > 0.98);
  }
  // Numbers that are none, and those of vectors that are all alike, are no harm.
  const std::vector<float> none(2 * 70, std::numeric_limits<float>::quiet_NaN()), alike(2 * 70, 0.0f);
  std::vector<int8_t> query(QueryComponents(70, CodeBits::kFour), 1);
  const std::vector<float> vector(70, 1);
  for (const std::vector<float>& numbers : {none, alike}) {
    FourBitScale(numbers).ToQuery(vector, query);
    CHECK(std::ranges::all_of(query, [](int8_t component) { return component == 0; }));
  }
}

TEST(vectors_halves_are_the_nearest_there_are) {
  // Every half, and what lies between two of them.
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FromHalf(static_cast<Half>(bits));
    const bool is_number = (bits & 0x7fff) <= 0x7c00;
    CHECK_EQ(value == value, is_number);
    if (!is_number) continue;
    CHECK_EQ(ToHalf(value), bits);
    if ((bits & 0x7fff) >= 0x7bff) continue;
    const float next = FromHalf(static_cast<Half>(bits + 1));
    CHECK_EQ(ToHalf(value + (next - value) * 0.4375f), bits);
    CHECK_EQ(ToHalf(value + (next - value) * 0.5f), bits + (bits & 1));
    CHECK_EQ(ToHalf(value + (next - value) * 0.5625f), bits + 1);
  }
  CHECK_EQ(ToHalf(65519.0f), 0x7bff);
  CHECK_EQ(ToHalf(65520.0f), 0x7c00);
  CHECK_EQ(ToHalf(-1e30f), 0xfc00);
  CHECK_EQ(ToHalf(1e-30f), 0);
  CHECK_EQ(ToHalf(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7e00);
  std::mt19937_64 random(12);
  for (const uint32_t size : {1u, 7u, 16u, 33u, 384u}) {
    const Set two = Clustered(2, size, size);
    std::vector<Half> halves(size);
    ToHalves(two.of(0), halves.data());
    std::vector<float> floats(size);
    FromHalves(halves, floats.data());
    CHECK_EQ(Product(halves, two.of(1)), Product(floats, two.of(1)));
  }
}

TEST(vectors_of_no_length_are_refused) {
  std::vector<float> zero(8), infinite(8, 1), no_number(8, 1), huge(8, 1e30f), tiny(8, 1e-30f);
  infinite[3] = std::numeric_limits<float>::infinity();
  no_number[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK(!Normalize(zero));
  CHECK(!Normalize(infinite));
  CHECK(!Normalize(no_number));
  CHECK(Normalize(huge));
  CHECK(Normalize(tiny));
  CHECK(std::fabs(huge[0] - tiny[0]) < 1e-6);
}

TEST(vectors_few_and_odd_are_all_found) {
  for (const uint32_t dimensions : {1u, 3u, 63u, 64u, 65u}) {
    for (const uint32_t count : {1u, 2u, 40u}) {
      const Set set = Clustered(count, dimensions, count + dimensions);
      const Set queries = Clustered(5, dimensions, 99);
      const std::vector<uint8_t> bytes = Encode(set);
      const VectorGraph graph(bytes);
      CHECK_EQ(graph.count(), count);
      VectorSearcher searcher;
      SearchRequest request;
      request.vector = queries.of(0);
      request.exact = true;
      CHECK(searcher.Search(graph, request).size() == std::min(count, 10u));
      request.wanted = 0;
      CHECK_EQ(searcher.Search(graph, request).size(), 0u);
      if (dimensions > 1) CHECK(RecallOf(graph, set, queries, {.wanted = 10, .exact = true}) >= 0.98);
    }
  }
}

TEST(vectors_nearest_are_found_by_the_graph) {
  for (const uint32_t dimensions : {48u, 96u}) {
    Set set = Clustered(6060, dimensions, 1);
    const Set queries = TakeQueries(&set, 60);
    const std::vector<uint8_t> bytes = Encode(set);
    CHECK(bytes == Encode(set));
    const VectorGraph graph(bytes);
    VectorSearcher searcher;
    searcher.Search(graph, {.vector = queries.of(0), .width = 40});
    CHECK_EQ(searcher.cost().way, SearchWay::kGraph);
    CHECK(searcher.cost().compared < 6000);
    CHECK(RecallOf(graph, set, queries, {.width = 40}) >= 0.95);
    CHECK(RecallOf(graph, set, queries, {.wanted = 100, .width = 150}) >= 0.95);
    CHECK(RecallOf(graph, set, queries, {.exact = true}) >= 0.999);
  }
}

TEST(vectors_without_a_graph_are_found_whatever_their_number) {
  Set set = Clustered(6040, 96, 5);
  const Set queries = TakeQueries(&set, 40);
  std::vector<uint32_t> records(set.size());
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(set.size());
  const std::vector<uint8_t> bytes = EncodeVectors({96, set.values, records, passages}, {.nodes_min = kWithoutGraph});
  VerifyVectors(bytes);
  const VectorGraph graph(bytes);
  CHECK(!graph.has_links());
  CHECK(graph.lacks_links());
  CHECK(!VectorGraph(Encode(set)).lacks_links());
  CHECK(RecallOf(graph, set, queries, {.width = 20}) >= 0.99);
  for (const double share : {1.0, 0.5, 0.01, 0.0}) {
    const std::vector<uint64_t> bits = RandomBits(set.size(), share, 18);
    const BitFilter filter(bits);
    const PassingVectors passing(graph, bits, PassingVectors::kPackedBytesMax);
    CHECK_EQ(passing.PackingPaysAfter(graph), 0u);
    if (filter.count() == 0) continue;
    CHECK(RecallOf(graph, set, queries, {.width = 20, .allowed = &filter}, &bits) >= 0.99);
    CHECK(RecallOf(graph, set, queries, {.width = 20, .passing = &passing}, &bits) >= 0.99);
  }
  // As many that are equal are one node, to which no merge would give a graph.
  for (uint32_t i = 1; i < set.size(); ++i) std::copy_n(set.of(0).begin(), 96, set.values.begin() + i * 96);
  const std::vector<uint8_t> equal = EncodeVectors({96, set.values, records, passages}, {.nodes_min = kWithoutGraph});
  CHECK(!VectorGraph(equal).lacks_links());
}

TEST(vectors_nearest_are_found_behind_a_filter) {
  Set set = Clustered(6040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  for (const double share : {1.0, 0.8, 0.5, 0.1, 0.01, 0.001, 0.0}) {
    const std::vector<uint64_t> bits = RandomBits(set.size(), share, 17);
    const BitFilter filter(bits);
    const SearchRequest request{.width = 20, .allowed = &filter};
    if (filter.count() > 0) CHECK(RecallOf(graph, set, queries, request, &bits) >= 0.95);
    // What lies together, far from most queries: the way through the graph must not end in front of it.
    std::vector<uint64_t> near(bits.size());
    uint32_t count = 0;
    for (const uint32_t ordinal : Nearest(set, queries.of(1), static_cast<uint32_t>(share * set.size()))) {
      near[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
      ++count;
    }
    if (count == 0) continue;
    const BitFilter near_filter(near);
    const SearchRequest together{.width = 20, .allowed = &near_filter};
    CHECK(RecallOf(graph, set, queries, together, &near) >= 0.9);
  }
}

TEST(vectors_that_pass_are_listed_by_nodes_and_cells) {
  std::mt19937_64 random(21);
  for (const uint32_t count : {1u, 64u, 700u, 5000u}) {
    Set set = Clustered(count, 8, count);
    // Some vectors are equal.
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
      // Every node is in one cell, and a cell is listed where one of its nodes is.
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
      // What is packed are the codes of these, cell by cell.
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

TEST(vectors_nearest_are_found_behind_a_filter_that_was_prepared) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  VectorSearcher searcher;
  std::vector<SearchWay> ways;
  for (const double share : {1.0, 0.6, 0.25, 0.1, 0.001, 0.0}) {
    std::vector<uint64_t> together(set.size() / 64 + 1);
    for (const uint32_t ordinal : Nearest(set, queries.of(1), static_cast<uint32_t>(share * set.size()))) {
      together[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
    }
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
      // As many as there are, where more are wanted.
      const SearchRequest more{.vector = queries.of(0), .wanted = 4000, .width = 10, .passing = &passing};
      const size_t all = std::min(4000u, passing.count());
      CHECK_EQ(searcher.Search(graph, more).size(), all);
      if (passing.count() > 0) CHECK(RecallOf(graph, set, queries, {.passing = &passing, .exact = true}, &bits) >= 0.999);
    }
  }
  for (const SearchWay way : {SearchWay::kFilteredGraph, SearchWay::kCells, SearchWay::kScan}) CHECK(std::ranges::count(ways, way) > 0);
}

// Half of all, by chance, on one side, or in every other cell: the graph of what passes is walked, and nothing is packed for it.
TEST(vectors_nearest_are_found_among_the_half_that_passes) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  std::vector<uint64_t> on_one_side(set.size() / 64 + 1);
  for (const uint32_t ordinal : Nearest(set, queries.of(1), set.size() / 2)) on_one_side[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
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
    // The centres of the graph, in another order.
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

// What a walk is wide for need not all be left: it ends where nothing nearer came for a while.
TEST(vectors_a_walk_among_what_passes_ends_where_nothing_nearer_comes) {
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

// A query that is deep inside what passes needs no cells, so it compares about as much as without a filter; one that is deep in the rest finds what is nearest there.
TEST(vectors_deep_inside_what_passes_and_deep_outside_are_found) {
  Set set = Clustered(12'040, 96, 3);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  std::vector<uint64_t> inside(set.size() / 64 + 1);
  for (const uint32_t ordinal : Nearest(set, queries.of(1), set.size() * 2 / 5)) inside[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
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

// Searches that lie off from all texts, of which a walk without a filter misses some: behind a filter no more are missed.
TEST(vectors_no_more_are_missed_among_what_passes) {
  Set set = Clustered(12'060, 96, 3);
  Set queries = TakeQueries(&set, 60);
  std::mt19937_64 random(19);
  std::normal_distribution<float> normal;
  for (float& value : queries.values) value += 0.1f * normal(random);
  for (uint32_t i = 0; i < queries.size(); ++i) CHECK(Normalize(std::span(queries.values).subspan(size_t{i} * set.dimensions, set.dimensions)));
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  std::vector<uint64_t> on_one_side(set.size() / 64 + 1);
  for (const uint32_t ordinal : Nearest(set, queries.of(1), set.size() / 2)) on_one_side[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  SearchRequest request{.wanted = 50, .width = 50};
  const double of_all = RecallOf(graph, set, queries, request);
  for (const std::vector<uint64_t>& bits : {RandomBits(set.size(), 0.5, 17), RandomBits(set.size(), 0.35, 18), on_one_side}) {
    const PassingVectors passing(graph, bits);
    CHECK(passing.is_for_graph());
    request.passing = &passing;
    CHECK(RecallOf(graph, set, queries, request, &bits) >= of_all);
  }
}

TEST(vectors_cells_that_are_damaged_are_told_and_searched_inside_the_bytes) {
  Set set = Clustered(6000, 16, 5);
  const std::vector<uint8_t> whole = Encode(set);
  const auto header = Load<VectorHeader>(whole.data());
  const VectorLayout layout(header);
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 60; ++turn) {
    std::vector<uint8_t> bytes = whole;
    const size_t words = (size_t{header.cells} + 1) * header.levels;
    for (uint64_t changes = turn % 3 == 0 ? words : 1 + random() % 4; changes > 0; --changes) {
      const uint32_t values[] = {0, header.nodes, UINT32_MAX, static_cast<uint32_t>(random() % header.nodes)};
      Store(bytes.data() + layout.cells + random() % words * sizeof(uint32_t), values[random() % 4]);
    }
    if (bytes == whole) continue;
    // As a writer that counts wrongly would leave them: the sum is right.
    Store(bytes.data() + offsetof(VectorHeader, sum), SumOfVectors(bytes));
    CHECK_THROWS(kDamaged, VerifyVectors(bytes));
    const VectorGraph graph(bytes);
    VectorSearcher searcher;
    for (const uint64_t packed_bytes_max : {PassingVectors::kPackedBytesMax, uint64_t{0}}) {
      for (const double share : {0.5, 0.1}) {
        const PassingVectors passing(graph, RandomBits(set.size(), share, 3), packed_bytes_max);
        CHECK(passing.bytes() < 2 * bytes.size());
        searcher.Search(graph, {.vector = set.of(1), .width = 8, .passing = &passing});
        CellSearch cells;
        std::vector<int8_t> query(QueryComponents(graph.dimensions(), graph.bits()));
        graph.ToQuery(set.of(2), query);
        cells.Search(CodeQuery(query.data(), graph.bytes_of_codes(), graph.bits()), graph, passing, {10, 10, 20});
        for (uint32_t rank = 0; rank < cells.beam().size(); ++rank) CHECK(passing.HasNode(cells.beam().at(rank).place));
      }
    }
  }
}

TEST(vectors_products_from_a_bar_on_are_listed) {
  std::mt19937_64 random(31);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<int32_t> products(count);
    for (int32_t& product : products) product = static_cast<int32_t>(random() % 9) - 4;
    for (const int32_t bar : {std::numeric_limits<int32_t>::min(), -4, 0, 3, std::numeric_limits<int32_t>::max()}) {
      std::vector<uint32_t> expected;
      for (uint32_t i = 0; i < count; ++i) {
        if (products[i] >= bar) expected.push_back(i);
      }
      std::vector<uint32_t> numbers(count + kListedMore);
      const uint32_t listed = ListFrom(products, bar, numbers.data());
      CHECK(std::ranges::equal(std::span(numbers).first(listed), expected));
    }
  }
}

TEST(vectors_are_searched_more_widely_where_those_that_pass_lie_elsewhere) {
  Set set = Clustered(10'040, 16, 4);
  const Set queries = TakeQueries(&set, 40);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  std::vector<uint64_t> bits(set.size() / 64 + 1);
  for (const uint32_t ordinal : Nearest(set, queries.of(1), set.size() / 2)) bits[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
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

TEST(vectors_that_are_equal_do_not_hide_the_others) {
  Set set = Clustered(3000, 16, 6);
  for (uint32_t i = 0; i < 1000; ++i) std::copy_n(set.of(0).begin(), 16, set.values.begin() + i * 32);
  const std::vector<uint8_t> bytes = Encode(set);
  const VectorGraph graph(bytes);
  CHECK_EQ(graph.nodes(), 2001u);
  VectorSearcher searcher;
  uint32_t found = 0;
  for (uint32_t i = 2001; i < 3000; ++i) {
    const std::span<const Neighbour> nearest = searcher.Search(graph, {.vector = set.of(i), .wanted = 1, .width = 20});
    found += nearest.size() == 1 && nearest[0].ordinal == i;
  }
  CHECK(found >= 980);
  // Of a thousand that are equal those of the lowest ordinals, with and without a filter.
  for (const bool is_filtered : {false, true}) {
    const std::vector<uint64_t> bits(50, is_filtered ? 0xffffffffffff0000u : ~uint64_t{0});
    const BitFilter allowed(bits);
    const std::span<const Neighbour> equal =
        searcher.Search(graph, {.vector = set.of(0), .wanted = 30, .allowed = is_filtered ? &allowed : nullptr});
    CHECK_EQ(equal.size(), 30u);
    uint32_t expected = 0;
    for (const Neighbour& neighbour : equal) {
      while (is_filtered && !allowed.Has(expected)) expected += 2;
      CHECK_EQ(neighbour.ordinal, expected);
      expected += 2;
    }
  }
}

TEST(vectors_damage_is_an_error_or_seen_by_the_sum) {
  const Set sets[] = {Clustered(300, 20, 8), Clustered(100, 70, 8)};
  const std::vector<uint8_t> encoded[] = {Encode(sets[0]), Encode(sets[1])};
  std::mt19937_64 random(9);
  for (int turn = 0; turn < 2000; ++turn) {
    const Set& set = sets[turn / 4 % 2];
    const std::vector<uint8_t>& whole = encoded[turn / 4 % 2];
    std::vector<uint8_t> bytes = whole;
    if (turn % 4 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      const size_t area = turn % 4 == 1 ? 128 : bytes.size();
      for (uint64_t flips = 1 + random() % 8; flips > 0; --flips) bytes[random() % area] ^= static_cast<uint8_t>(1 + random() % 255);
    }
    if (bytes == whole) continue;
    bool is_whole = true;
    try {
      VerifyVectors(bytes);
    } catch (const Error& error) {
      is_whole = false;
      CHECK(error.code() == ErrorCode::kDamaged || error.code() == ErrorCode::kUnsupportedFormat);
    }
    CHECK(!is_whole);
    try {
      // What was not read as a whole is searched without leaving the bytes.
      const VectorGraph graph(bytes);
      if (graph.dimensions() != set.dimensions) continue;
      VectorSearcher searcher;
      const BitFilter filter(std::vector<uint64_t>(graph.count() / 64 + 1, 0x5555555555555555u));
      for (const bool is_exact : {false, true}) {
        searcher.Search(graph, {.vector = set.of(1), .width = 8, .exact = is_exact});
        searcher.Search(graph, {.vector = set.of(1), .width = 8, .allowed = &filter, .exact = is_exact});
      }
      for (const uint64_t packed_bytes_max : {PassingVectors::kPackedBytesMax, uint64_t{0}}) {
        const PassingVectors passing(graph, std::vector<uint64_t>(graph.count() / 64 + 1, 0x5555555555555555u), packed_bytes_max);
        searcher.Search(graph, {.vector = set.of(1), .width = 8, .passing = &passing});
        CellSearch cells;
        const std::vector<int8_t> query(QueryComponents(graph.dimensions(), graph.bits()), 1);
        cells.Search(CodeQuery(query.data(), graph.bytes_of_codes(), graph.bits()), graph, passing, {4, 4, 8});
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace gannet::test
