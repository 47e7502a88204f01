// The bytes of a graph of vectors: opening and searching them is an Error or neighbours, never a crash.
#include <cstdint>
#include <cstring>
#include <vector>

#include "../kernel/common/error.h"
#include "../kernel/vectors/vector_search.h"
#include "fuzz_target.h"

using gannet::vectors::BuildVectorGraph;
using gannet::vectors::Normalize;
using gannet::vectors::VectorGraph;
using gannet::vectors::VectorSearcher;

namespace {

std::vector<float> Vectors(uint32_t count, uint32_t dimensions) {
  std::vector<float> values(static_cast<size_t>(count) * dimensions);
  uint32_t state = count;
  for (float& value : values) value = static_cast<float>(static_cast<int32_t>(state = state * 1664525 + 1013904223) >> 16);
  for (uint32_t i = 0; i < count; ++i) Normalize(std::span(values).subspan(static_cast<size_t>(i) * dimensions, dimensions));
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::vector<uint8_t> bytes(data, data + size);
    const VectorGraph graph(bytes, false);
    std::vector<float> query(graph.dimensions(), 1);
    Normalize(query);
    const std::vector<uint64_t> bits(graph.count() / 64 + 1, 0xaaaaaaaaaaaaaaaau);
    VectorSearcher searcher;
    searcher.Search(graph, {.vector = query, .width = 8});
    searcher.Search(graph, {.vector = query, .width = 8, .allowed = {bits.data(), graph.count() / 2}});
    searcher.Search(graph, {.vector = query, .exact = true});
  } catch (const gannet::Error&) {
  }
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  return {BuildVectorGraph({}, 4), BuildVectorGraph(Vectors(3, 5), 5), BuildVectorGraph(Vectors(2500, 4), 4)};
}
