#include "vector_graph.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../common/bytes.h"
#include "../common/file_sum.h"
#include "../common/stop.h"

namespace gannet::vectors {
namespace {

constexpr size_t Aligned(size_t bytes) {
  return (bytes + VectorLayout::kAlignment - 1) / VectorLayout::kAlignment * VectorLayout::kAlignment;
}

[[noreturn]] void Damaged(const char* what) { throw Error(ErrorCode::kDamaged, std::string("vectors: ") + what); }

void CheckLevels(const VectorHeader& header) {
  if (header.links == 0 || header.links > kLinksMax || header.levels > kLevelsMax) Damaged("its levels");
  for (uint32_t level = 0; level < header.levels; ++level) {
    const uint32_t below = level == 0 ? header.nodes : header.nodes_of_level[level - 1];
    const uint32_t nodes = header.nodes_of_level[level];
    if (nodes == 0 || nodes > below || (level == 0 && nodes != header.nodes)) Damaged("its levels");
  }
}

void CheckHeader(const VectorHeader& header, size_t bytes) {
  if (header.magic != kVectorMagic) Damaged("not a file of them");
  if (header.format != kVectorFormat) {
    throw Error(ErrorCode::kUnsupportedFormat, "vectors of format " + std::to_string(header.format));
  }
  if (header.count == 0 || header.count > kVectorsMax || header.nodes == 0 || header.nodes > header.count) {
    Damaged("their number");
  }
  if (header.dimensions == 0 || header.dimensions > kDimensionsMax) Damaged("their dimensions");
  CheckLevels(header);
  if (header.bits != 4 && header.bits != 8) Damaged("the bits of codes");
  if (header.cells > header.nodes || (header.cells == 0) != (header.levels == 0)) Damaged("the number of cells");
  if (!(header.step > 0) || !std::isfinite(header.step)) Damaged("the step of codes");
  if (header.bytes != bytes || VectorLayout(header).bytes != bytes) Damaged("the length of the file");
}

void CheckLinks(const VectorGraph& graph) {
  for (uint32_t level = 0; level < graph.levels(); ++level) {
    const uint32_t nodes = graph.nodes_of_level(level);
    for (uint32_t place = 0; place < nodes; ++place) {
      StopIfAskedAt(place);
      for (const uint32_t link : graph.links(place, level)) {
        if (link >= nodes) Damaged("a link that leads nowhere");
      }
    }
  }
}

void CheckCells(const VectorGraph& graph) {
  for (uint32_t level = 0; level < graph.levels(); ++level) {
    uint32_t next = level + 1 < graph.levels() ? graph.nodes_of_level(level + 1) : 0;
    for (uint32_t cell = 0; cell < graph.cells(); ++cell) {
      StopIfAskedAt(cell);
      const auto [first, end] = graph.cell(cell, level);
      if (first != next || end < first) Damaged("cells");
      next = end;
    }
    if (next != graph.nodes_of_level(level)) Damaged("cells");
  }
}

void CheckRows(const VectorGraph& graph, const uint32_t* rows, const uint32_t* ordinals, const uint32_t* places) {
  const uint32_t count = graph.count();
  if (rows[0] != 0 || rows[graph.nodes()] != count) Damaged("rows of nodes");
  std::vector<bool> is_met(count);
  for (uint32_t place = 0; place < graph.nodes(); ++place) {
    StopIfAskedAt(place);
    if (rows[place] >= rows[place + 1] || rows[place + 1] > count) Damaged("rows of nodes");
    for (uint32_t row = rows[place]; row < rows[place + 1]; ++row) {
      if (ordinals[row] >= count || is_met[ordinals[row]]) Damaged("an ordinal that is no one's or two's");
      if (row > rows[place] && ordinals[row] <= ordinals[row - 1]) Damaged("ordinals out of order");
      if (places[ordinals[row]] != place) Damaged("a vector of another node");
      is_met[ordinals[row]] = true;
    }
  }
}

void CheckScale(std::span<const float> scale) {
  for (size_t i = 0; i < scale.size(); ++i) {
    if (!std::isfinite(scale[i]) || (i >= scale.size() / 2 && scale[i] < 0)) Damaged("the scale of codes");
  }
}

void CheckVectors(const VectorGraph& graph, std::span<const float> zeros) {
  for (uint32_t ordinal = 0; ordinal < graph.count(); ++ordinal) {
    StopIfAskedAt(ordinal);
    if (ordinal > 0) {
      const auto at = [&](uint32_t i) { return std::pair(graph.records()[i], graph.passages()[i]); };
      if (at(ordinal - 1) >= at(ordinal)) Damaged("records out of order");
    }
    // Zero times NaN or infinity is NaN.
    if (!(Product(graph.vector(ordinal), zeros) == 0)) Damaged("a component that is no number");
  }
}

}  // namespace

VectorLayout::VectorLayout(const VectorHeader& header) {
  size_t at = kHeaderBytes;
  const auto take = [&](size_t bytes_taken) {
    const size_t begin = at;
    at += Aligned(bytes_taken);
    return begin;
  };
  const size_t count = header.count;
  const size_t nodes = header.nodes;
  scale = at;
  if (header.code_bits() == CodeBits::kFour) take(2 * size_t{header.dimensions} * sizeof(float));
  codes = take(nodes * BytesOfCodes(header.dimensions, header.code_bits()));
  centres = take(size_t{header.cells} * BytesOfCodes(header.dimensions, header.code_bits()));
  cells = header.cells == 0 ? at : take((size_t{header.cells} + 1) * header.levels * sizeof(uint32_t));
  for (uint32_t level = 0; level < header.levels; ++level) {
    const size_t width = level == 0 ? 2 * header.links : header.links;
    links[level] = take(header.nodes_of_level[level] * width * sizeof(uint32_t));
  }
  rows = take((nodes + 1) * sizeof(uint32_t));
  ordinals = take(count * sizeof(uint32_t));
  places = take(count * sizeof(uint32_t));
  records = take(count * sizeof(uint32_t));
  passages = take(count * sizeof(uint32_t));
  vectors = take(count * header.dimensions * sizeof(Half));
  bytes = at;
}

VectorGraph::VectorGraph(std::span<const uint8_t> bytes) {
  if (bytes.size() < VectorLayout::kHeaderBytes) Damaged("too short");
  header_ = Load<VectorHeader>(bytes.data());
  CheckHeader(header_, bytes.size());
  const VectorLayout layout(header_);
  const auto numbers = [&](size_t at) { return reinterpret_cast<const uint32_t*>(bytes.data() + at); };
  scale_ = reinterpret_cast<const float*>(bytes.data() + layout.scale);
  codes_ = bytes.data() + layout.codes;
  centres_ = bytes.data() + layout.centres;
  cells_ = numbers(layout.cells);
  for (uint32_t level = 0; level < header_.levels; ++level) links_[level] = numbers(layout.links[level]);
  rows_ = numbers(layout.rows);
  ordinals_ = numbers(layout.ordinals);
  places_ = numbers(layout.places);
  records_ = numbers(layout.records);
  passages_ = numbers(layout.passages);
  vectors_ = reinterpret_cast<const Half*>(bytes.data() + layout.vectors);
}

uint32_t VectorGraph::RowOf(uint32_t ordinal) const {
  if (!has_equals()) return place(ordinal);
  auto [low, high] = rows(place(ordinal));
  while (high - low > 1 && low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (ordinals_[middle] <= ordinal) low = middle; else high = middle;
  }
  return std::min(low, header_.count - 1);
}

uint64_t SumOfVectors(std::span<const uint8_t> bytes) {
  std::array<uint8_t, VectorLayout::kHeaderBytes> header;
  std::copy_n(bytes.begin(), header.size(), header.begin());
  Store(header.data() + offsetof(VectorHeader, sum), uint64_t{0});
  return SumOfBytes(header) * 31 + SumOfBytes(bytes.subspan(header.size()));
}

void VerifyVectors(std::span<const uint8_t> bytes) {
  const VectorGraph graph(bytes);
  const auto header = Load<VectorHeader>(bytes.data());
  if (header.sum != SumOfVectors(bytes)) Damaged("bytes that were not written so");
  const VectorLayout layout(header);
  const auto numbers = [&](size_t at) { return reinterpret_cast<const uint32_t*>(bytes.data() + at); };
  if (graph.bits() == CodeBits::kFour) {
    CheckScale({reinterpret_cast<const float*>(bytes.data() + layout.scale), 2 * size_t{graph.dimensions()}});
  }
  CheckCells(graph);
  CheckLinks(graph);
  CheckRows(graph, numbers(layout.rows), numbers(layout.ordinals), numbers(layout.places));
  CheckVectors(graph, std::vector<float>(graph.dimensions()));
}

}  // namespace gannet::vectors
