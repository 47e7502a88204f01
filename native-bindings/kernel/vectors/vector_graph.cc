#include "vector_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "../common/bytes.h"
#include "../common/file_sum.h"

namespace gannet::vectors {
namespace {

constexpr size_t kSectionAlignment = 64;
// One in so many components may lie outside of what codes can say: those that do are cut.
constexpr double kCutShare = 1e-4;
constexpr size_t kSampleMax = 1'000'000;
constexpr float kGreatestCode = 127;

constexpr size_t Aligned(size_t bytes) { return (bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment; }

// Where the sections of a graph lie.
struct Layout {
  size_t codes = 0;
  std::array<size_t, kLevelsMax> links{};
  size_t rows = 0;
  size_t ordinals = 0;
  size_t places = 0;
  size_t vectors = 0;
  size_t bytes = 0;

  explicit Layout(const VectorGraphHeader& header) {
    size_t at = Aligned(sizeof(VectorGraphHeader));
    const auto take = [&](size_t bytes_taken) {
      const size_t begin = at;
      at += Aligned(bytes_taken);
      return begin;
    };
    const size_t count = header.count;
    const size_t nodes = header.nodes;
    codes = take(nodes * PaddedDimensions(header.dimensions));
    for (uint32_t level = 0; level < header.levels; ++level) {
      const size_t width = level == 0 ? 2 * header.links : header.links;
      links[level] = take(header.nodes_of_level[level] * width * sizeof(uint32_t));
    }
    rows = take((nodes + 1) * sizeof(uint32_t));
    ordinals = take(count * sizeof(uint32_t));
    places = take(count * sizeof(uint32_t));
    vectors = take(count * header.dimensions * sizeof(float));
    bytes = at;
  }
};

// Vectors as codes while the graph is built, those of equal codes once.
struct Quantized {
  uint32_t dimensions;
  uint32_t padded;
  Quantizer quantizer;
  std::vector<uint8_t> memory;
  std::vector<uint32_t> node_of;  // by ordinal

  Quantized(std::span<const float> vectors, uint32_t dimensions_of_one)
      : dimensions(dimensions_of_one),
        padded(PaddedDimensions(dimensions_of_one)),
        quantizer(Quantizer::Of(vectors)),
        node_of(vectors.size() / dimensions_of_one) {
    std::unordered_map<std::string_view, uint32_t> nodes;
    nodes.reserve(node_of.size());
    // Taken whole before, for the names of nodes lie in it.
    memory.resize(node_of.size() * padded + kSectionAlignment);
    for (size_t i = 0; i < node_of.size(); ++i) {
      uint8_t* at = codes() + nodes.size() * padded;
      quantizer.ToCodes(vectors.subspan(i * dimensions, dimensions), {at, padded});
      node_of[i] = nodes.emplace(AsText({at, padded}), static_cast<uint32_t>(nodes.size())).first->second;
    }
    count_ = static_cast<uint32_t>(nodes.size());
  }
  uint8_t* codes() {
    void* at = memory.data();
    size_t room = memory.size();
    return static_cast<uint8_t*>(std::align(kSectionAlignment, 1, at, room));
  }
  uint32_t nodes() const { return count_; }

 private:
  uint32_t count_ = 0;
};

// Nodes of higher levels before those of lower ones, and among them as they are met from the entry.
std::vector<uint32_t> OrderOfNodes(const GraphBuilder& graph) {
  std::vector<uint32_t> order;
  order.reserve(graph.size());
  std::vector<bool> is_met(graph.size());
  const auto meet = [&](uint32_t node) {
    if (is_met[node]) return;
    is_met[node] = true;
    order.push_back(node);
  };
  meet(graph.entry());
  // What no link leads to follows in the order of its coming.
  for (uint32_t next = 0, left = 0; order.size() < graph.size();) {
    if (next == order.size()) {
      while (is_met[left]) ++left;
      meet(left);
    }
    for (const uint32_t node : graph.links(order[next++], 0)) meet(node);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return graph.level_of(a) > graph.level_of(b); });
  return order;
}

VectorGraphHeader HeaderOf(const GraphBuilder& graph, const Quantized& quantized, uint32_t links) {
  VectorGraphHeader header{};
  header.magic = kVectorGraphMagic;
  header.format = kVectorGraphFormat;
  header.count = static_cast<uint32_t>(quantized.node_of.size());
  header.nodes = graph.size();
  header.dimensions = quantized.dimensions;
  header.links = links;
  header.step = quantized.quantizer.step();
  for (uint32_t node = 0; node < graph.size(); ++node) {
    for (uint32_t level = 0; level <= graph.level_of(node); ++level) ++header.nodes_of_level[level];
  }
  header.levels = graph.size() == 0 ? 0 : graph.top_level() + 1;
  header.bytes = Layout(header).bytes;
  return header;
}

void WriteLinks(const GraphBuilder& graph, const std::vector<uint32_t>& order, const std::vector<uint32_t>& place_of,
                uint32_t level, uint32_t width, uint32_t* to) {
  for (uint32_t place = 0; place < order.size() && graph.level_of(order[place]) >= level; ++place, to += width) {
    std::fill(to, to + width, place);
    const std::span<const uint32_t> links = graph.links(order[place], level);
    for (size_t i = 0; i < links.size(); ++i) to[i] = place_of[links[i]];
  }
}

// Which vectors belong to which node, and the vectors.
void WriteRows(std::span<const float> vectors, const Quantized& quantized, const std::vector<uint32_t>& place_of,
               const Layout& layout, uint8_t* bytes) {
  auto* rows = reinterpret_cast<uint32_t*>(bytes + layout.rows);
  auto* ordinals = reinterpret_cast<uint32_t*>(bytes + layout.ordinals);
  auto* places = reinterpret_cast<uint32_t*>(bytes + layout.places);
  const size_t dimensions = quantized.dimensions;
  for (size_t i = 0; i < quantized.node_of.size(); ++i) {
    places[i] = place_of[quantized.node_of[i]];
    ++rows[places[i] + 1];
  }
  std::partial_sum(rows, rows + place_of.size() + 1, rows);
  std::vector<uint32_t> next(rows, rows + place_of.size());
  for (size_t i = 0; i < quantized.node_of.size(); ++i) {
    const size_t row = next[places[i]]++;
    ordinals[row] = static_cast<uint32_t>(i);
    std::memcpy(bytes + layout.vectors + row * dimensions * sizeof(float), &vectors[i * dimensions],
                dimensions * sizeof(float));
  }
}

[[noreturn]] void Damaged(const std::string& what) { throw Error(ErrorCode::kDamaged, "vector graph: " + what); }

void CheckHeader(const VectorGraphHeader& header, size_t bytes) {
  if (header.magic != kVectorGraphMagic) Damaged("not one");
  if (header.format != kVectorGraphFormat) {
    throw Error(ErrorCode::kUnsupportedFormat, "vector graph of format " + std::to_string(header.format));
  }
  if (header.count > kVectorsMax || header.nodes > header.count) Damaged("its size");
  if (header.dimensions == 0 || header.dimensions > kDimensionsMax) Damaged("its dimensions");
  if (header.links == 0 || header.links > kLinksMax || header.levels > kLevelsMax) Damaged("its levels");
  if ((header.count == 0) != (header.nodes == 0) || (header.count == 0) != (header.levels == 0)) Damaged("its levels");
  for (uint32_t level = 0; level < header.levels; ++level) {
    const uint32_t below = level == 0 ? header.nodes : header.nodes_of_level[level - 1];
    const uint32_t nodes = header.nodes_of_level[level];
    if (nodes == 0 || nodes > below || (level == 0 && nodes != header.nodes)) Damaged("its levels");
  }
  if (!(header.step > 0) || !std::isfinite(header.step)) Damaged("its step");
  if (header.bytes != bytes || Layout(header).bytes != bytes) Damaged("its length");
}

void CheckBelow(const uint32_t* values, size_t count, uint32_t end, const char* what) {
  if (std::any_of(values, values + count, [&](uint32_t value) { return value >= end; })) Damaged(what);
}

}  // namespace

Quantizer Quantizer::Of(std::span<const float> vectors) {
  std::vector<float> sizes;
  const size_t apart = vectors.size() / kSampleMax + 1;
  sizes.reserve(vectors.size() / apart + 1);
  for (size_t i = 0; i < vectors.size(); i += apart) sizes.push_back(std::fabs(vectors[i]));
  if (sizes.empty()) return Quantizer(1 / kGreatestCode);
  const auto at = sizes.begin() + static_cast<ptrdiff_t>(static_cast<double>(sizes.size() - 1) * (1 - kCutShare));
  std::nth_element(sizes.begin(), at, sizes.end());
  return Quantizer(*at > 0 ? *at / kGreatestCode : 1 / kGreatestCode);
}

int8_t Quantizer::Component(float value) const {
  return static_cast<int8_t>(std::lround(std::clamp(value * inverse_, -kGreatestCode, kGreatestCode)));
}

void Quantizer::ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const {
  std::fill(padded.begin(), padded.end(), kZeroCode);
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = static_cast<uint8_t>(kZeroCode + Component(vector[i]));
}

void Quantizer::ToQuery(std::span<const float> vector, std::span<int8_t> padded) const {
  std::fill(padded.begin(), padded.end(), int8_t{0});
  for (size_t i = 0; i < vector.size(); ++i) padded[i] = Component(vector[i]);
}

bool Normalize(std::span<float> vector) {
  // Squares of what a float can hold have room in a double.
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double inverse = 1 / std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(value * inverse);
  return true;
}

std::vector<uint8_t> BuildVectorGraph(std::span<const float> vectors, uint32_t dimensions, GraphOptions options) {
  if (dimensions == 0 || dimensions > kDimensionsMax || options.links < 2 || options.links > kLinksMax ||
      vectors.size() / dimensions > kVectorsMax) {
    throw Error(ErrorCode::kLimit, "vectors: too many, or of too many dimensions");
  }
  Quantized quantized(vectors, dimensions);
  GraphBuilder graph({quantized.codes(), quantized.padded}, quantized.nodes(), quantized.padded, options);
  for (uint32_t i = 0; i < quantized.nodes(); ++i) graph.AddNext();

  const std::vector<uint32_t> order = graph.size() == 0 ? std::vector<uint32_t>{} : OrderOfNodes(graph);
  std::vector<uint32_t> place_of(graph.size());
  for (uint32_t place = 0; place < graph.size(); ++place) place_of[order[place]] = place;
  VectorGraphHeader header = HeaderOf(graph, quantized, options.links);
  const Layout layout(header);
  std::vector<uint8_t> bytes(layout.bytes);
  for (uint32_t place = 0; place < graph.size(); ++place) {
    std::memcpy(&bytes[layout.codes + static_cast<size_t>(place) * quantized.padded],
                quantized.codes() + static_cast<size_t>(order[place]) * quantized.padded, quantized.padded);
  }
  for (uint32_t level = 0; level < header.levels; ++level) {
    const uint32_t width = level == 0 ? 2 * options.links : options.links;
    WriteLinks(graph, order, place_of, level, width, reinterpret_cast<uint32_t*>(&bytes[layout.links[level]]));
  }
  WriteRows(vectors, quantized, place_of, layout, bytes.data());
  header.sum = SumOfBytes(std::span(bytes).subspan(Aligned(sizeof(header))));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

VectorGraph::VectorGraph(std::span<const uint8_t> bytes, bool check_sum) {
  if (bytes.size() < Aligned(sizeof(header_))) Damaged("too short");
  header_ = Load<VectorGraphHeader>(bytes.data());
  CheckHeader(header_, bytes.size());
  if (check_sum && header_.sum != SumOfBytes(bytes.subspan(Aligned(sizeof(header_))))) Damaged("its sum");
  const Layout layout(header_);
  codes_ = bytes.data() + layout.codes;
  for (uint32_t level = 0; level < header_.levels; ++level) {
    links_[level] = reinterpret_cast<const uint32_t*>(bytes.data() + layout.links[level]);
    const uint32_t nodes = header_.nodes_of_level[level];
    CheckBelow(links_[level], static_cast<size_t>(nodes) * links_max(level), nodes, "its links");
  }
  ordinals_ = reinterpret_cast<const uint32_t*>(bytes.data() + layout.ordinals);
  places_ = reinterpret_cast<const uint32_t*>(bytes.data() + layout.places);
  vectors_ = reinterpret_cast<const float*>(bytes.data() + layout.vectors);
  rows_ = reinterpret_cast<const uint32_t*>(bytes.data() + layout.rows);
  CheckBelow(ordinals_, count(), count(), "its ordinals");
  CheckBelow(places_, count(), nodes(), "its places");
  if (rows_[0] != 0 || rows_[nodes()] != count()) Damaged("its rows");
  for (uint32_t place = 0; place < nodes(); ++place) {
    if (rows_[place] >= rows_[place + 1]) Damaged("its rows");
  }
}

}  // namespace gannet::vectors
