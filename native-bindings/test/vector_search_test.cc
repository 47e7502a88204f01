// Tests vectors: products of codes, and searches of graphs compared with a scan of all vectors.
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
#include "bit_filter.h"
#include "vector_sets.h"

namespace gannet::test {
namespace {

// Returns the products of 40 vectors in interleaved blocks, the last of which is padded.
std::vector<int32_t> InterleavedProducts(const CodeQuery& query, const std::vector<uint8_t>& codes, uint32_t bytes) {
  std::vector<uint8_t> blocks(size_t{InterleavedBlocks(40)} * kInterleaved * bytes);
  for (uint32_t place = 0; place < 40; ++place) PutInterleaved(&codes[place * bytes], bytes, place, blocks.data());
  std::vector<int32_t> products(size_t{InterleavedBlocks(40)} * kInterleaved);
  query.ProductsOfInterleaved(blocks.data(), InterleavedBlocks(40), products.data());
  products.resize(40);
  return products;
}

}  // namespace

TEST(vectors_products_equal_the_sum_over_components) {
  std::mt19937_64 random(5);
  for (const uint32_t padded : {64u, 128u, 192u, 1024u}) {
    std::vector<uint8_t> codes(padded * 40);
    std::vector<int8_t> query(padded);
    // Includes the extreme values, as no implementation may overflow.
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

// Products of 4-bit codes correlate with those of the vectors. Only the constant of the centres differs.
TEST(vectors_of_four_bits_have_products_close_to_exact_ones) {
  for (const uint32_t dimensions : {1u, 65u, 128u, 200u, 384u}) {
    Set set = Clustered(400, dimensions, dimensions);
    // Makes one dimension larger, shifts one, and makes one constant.
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
  // NaN numbers, and those of equal vectors, give codes of zero.
  const std::vector<float> none(2 * 70, std::numeric_limits<float>::quiet_NaN()), alike(2 * 70, 0.0f);
  std::vector<int8_t> query(QueryComponents(70, CodeBits::kFour), 1);
  const std::vector<float> vector(70, 1);
  for (const std::vector<float>& numbers : {none, alike}) {
    FourBitScale(numbers).ToQuery(vector, query);
    CHECK(std::ranges::all_of(query, [](int8_t component) { return component == 0; }));
  }
}

TEST(vectors_halves_are_rounded_to_the_nearest) {
  // Checks every half, and values between adjacent ones.
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

TEST(vectors_of_zero_or_infinite_length_are_not_normalized) {
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

TEST(vectors_are_all_found_if_there_are_few_of_any_dimension) {
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

TEST(vectors_are_found_without_a_graph) {
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
  // Equal vectors are one node, for which a merge would build no graph.
  for (uint32_t i = 1; i < set.size(); ++i) std::copy_n(set.of(0).begin(), 96, set.values.begin() + i * 96);
  const std::vector<uint8_t> equal = EncodeVectors({96, set.values, records, passages}, {.nodes_min = kWithoutGraph});
  CHECK(!VectorGraph(equal).lacks_links());
}

TEST(vectors_with_damaged_cells_are_reported_and_searched_within_their_bytes) {
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
    // Corrects the sum, as if a writer had counted wrongly.
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

TEST(vectors_products_that_reach_a_bar_are_listed) {
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

TEST(vectors_that_are_equal_do_not_hide_others) {
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
  // Of a thousand equal vectors, those with the lowest ordinals are found, with and without a filter.
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

TEST(vectors_that_are_damaged_fail_verification_and_are_searched_within_their_bytes) {
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
      // A file that was not verified is searched without reading out of bounds.
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
