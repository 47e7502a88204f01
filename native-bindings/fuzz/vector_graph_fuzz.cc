// Fuzzes the files of vectors: opening and searching one gives neighbours or an Error, never a crash.
#include <cstdint>
#include <cstring>
#include <vector>

#include "../kernel/common/error.h"
#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_writer.h"
#include "../test/bit_filter.h"
#include "fuzz_target.h"

using gannet::test::BitFilter;
using gannet::vectors::CellSearch;
using gannet::vectors::CodeQuery;
using gannet::vectors::EncodeVectors;
using gannet::vectors::Normalize;
using gannet::vectors::PassingVectors;
using gannet::vectors::QueryComponents;
using gannet::vectors::VectorGraph;
using gannet::vectors::VectorSearcher;
using gannet::vectors::VerifyVectors;

namespace {

// Returns a file of `count` vectors, two passages per record, with a graph even if they are few.
std::vector<uint8_t> Encoded(uint32_t count, uint32_t dimensions) {
  std::vector<float> values(static_cast<size_t>(count) * dimensions);
  uint32_t state = count;
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(state = state * 1664525 + 1013904223) >> 16);
  std::vector<uint32_t> records(count), passages(count);
  for (uint32_t i = 0; i < count; ++i) {
    records[i] = i / 2;
    passages[i] = i % 2;
  }
  return EncodeVectors({dimensions, values, records, passages}, {.links = 4, .build_width = 20, .nodes_min = 0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<uint8_t> bytes(data, data + size);
    const VectorGraph graph(bytes);
    std::vector<float> query(graph.dimensions(), 1);
    Normalize(query);
    const BitFilter filter(std::vector<uint64_t>(graph.count() / 64 + 1, 0xaaaaaaaaaaaaaaaau));
    VectorSearcher searcher;
    for (const bool is_exact : {false, true}) {
      searcher.Search(graph, {.vector = query, .width = 8, .exact = is_exact});
      searcher.Search(graph, {.vector = query, .width = 8, .allowed = &filter, .exact = is_exact});
    }
    std::vector<int8_t> components(QueryComponents(graph.dimensions(), graph.bits()));
    graph.ToQuery(query, components);
    for (const uint64_t packed_bytes_max : {PassingVectors::kPackedBytesMax, uint64_t{0}}) {
      const PassingVectors passing(graph, std::vector<uint64_t>(graph.count() / 64 + 1, 0xaaaaaaaaaaaaaaaau), packed_bytes_max);
      CellSearch().Search(CodeQuery(components.data(), graph.bytes_of_codes(), graph.bits()), graph, passing, {4, 4, 8});
    }
    for (uint32_t ordinal = 0; ordinal < graph.count(); ++ordinal) graph.CosineOf(graph.RowOf(ordinal), query);
    VerifyVectors(bytes);
  } catch (const gannet::Error&) {
  }
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  return {Encoded(1, 4), Encoded(3, 5), Encoded(5, 70), Encoded(2500, 4)};
}
