// The vectors of a segment as they are stored in a file, with the graph that finds the nearest of them. Immutable.
//
// A vector's *ordinal* is its place in the order of records and, within a record, of passages. A *node* represents all
// vectors with the same codes: a text that occurs a thousand times is one node, and hides no others. Nodes have places
// 0 to nodes - 1. If there is a graph, the nodes that reach the highest level come first, then those of the level below
// and so on, so that the links of a level are an array over the first nodes. Within a level, nodes that are met
// together are near each other (ordered by cell, and within a cell breadth first from the entry). All sections begin at
// multiples of 64 bytes; numbers are little-endian:
//
//   header      VectorHeader
//   scale       with codes of four bits: dimensions f32 of centres, then dimensions f32 of steps (quantizer.h)
//   codes       nodes x BytesOfCodes: the components as bytes or as four bits each (code_dot.h); the graph is searched by
//               these
//   centres     if there is a graph: the codes of each cell's centre (cells.h)
//   cells       (cells + 1) x levels u32: for each cell and level, the first place of its nodes whose highest level that
//               is; they end where those of the next cell begin
//   links       for each level, the lowest first: (nodes of the level) x (links of a node in it) u32 places; unused links
//               of a node are its own place
//   rows        nodes + 1 u32: the first row of each node and, after the last, the number of rows
//   ordinals    count u32: the ordinal of each row, ascending within a node
//   places      count u32: the place of the node of each ordinal
//   records     count u32: the record number of each ordinal, ascending
//   passages    count u32: for each ordinal, which of the record's vectors it is, ascending within a record
//   vectors     count x dimensions 16-bit floats by row, each vector of length 1: by these the best are compared in the
//               end
//
// Reading a damaged file never leaves it: a number that points outside is replaced by the last valid one.
//
// Thread-safety: immutable; any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "code_dot.h"
#include "graph_builder.h"
#include "half.h"
#include "quantizer.h"

namespace gannet::vectors {

inline constexpr uint32_t kVectorMagic = 0x31535647;  // "GVS1"
inline constexpr uint32_t kVectorFormat = 3;
inline constexpr uint32_t kDimensionsMax = 8192;
inline constexpr uint32_t kVectorsMax = 1u << 28;

struct VectorHeader {
  uint32_t magic;
  uint32_t format;
  uint32_t count;       // at least 1
  uint32_t dimensions;
  uint32_t links;       // of a node on an upper level; twice as many on the lowest
  uint32_t levels;      // 0: there is no graph
  float step;           // value of one unit of a byte code
  uint32_t nodes;
  uint64_t bytes;       // of the whole file
  uint64_t sum;         // of all bytes of the file, with these taken as 0 (SumOfVectors)
  std::array<uint32_t, kLevelsMax> nodes_of_level;
  uint32_t bits;        // per code: 4 or 8
  uint32_t cells;       // 0 if there is no graph
  CodeBits code_bits() const { return static_cast<CodeBits>(bits); }
};

// With few dimensions, codes of bytes take no more space, because of the padding.
constexpr CodeBits BitsFor(uint32_t dimensions) {
  return BytesOfCodes(dimensions, CodeBits::kEight) > BytesOfCodes(dimensions, CodeBits::kFour) ? CodeBits::kFour : CodeBits::kEight;
}

// Offsets of the sections.
struct VectorLayout {
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kHeaderBytes = 128;
  size_t scale = 0;
  size_t codes = 0;
  size_t centres = 0;
  size_t cells = 0;
  std::array<size_t, kLevelsMax> links{};
  size_t rows = 0;
  size_t ordinals = 0;
  size_t places = 0;
  size_t records = 0;
  size_t passages = 0;
  size_t vectors = 0;
  size_t bytes = 0;

  explicit VectorLayout(const VectorHeader& header);
};
static_assert(sizeof(VectorHeader) <= VectorLayout::kHeaderBytes);

class VectorGraph {
 public:
  // `bytes` must stay valid as long as the object and begin at a multiple of 16, better of 64. Throws Error(kDamaged)
  // if the header does not belong to these bytes, kUnsupportedFormat. Reads only the header: VerifyVectors reads the
  // rest.
  explicit VectorGraph(std::span<const uint8_t> bytes);

  uint32_t count() const { return header_.count; }
  uint32_t nodes() const { return header_.nodes; }
  uint32_t dimensions() const { return header_.dimensions; }
  CodeBits bits() const { return header_.code_bits(); }
  uint32_t bytes_of_codes() const { return BytesOfCodes(header_.dimensions, bits()); }
  bool has_links() const { return header_.levels > 0; }
  // True if a merge of this segment alone would build a graph. Equal vectors are one node, so there may be any number
  // of them without a graph.
  bool lacks_links() const { return !has_links() && header_.nodes > GraphOptions{}.nodes_min; }
  uint32_t levels() const { return header_.levels; }
  uint32_t nodes_of_level(uint32_t level) const { return header_.nodes_of_level[level]; }
  // Writes the query with which codes are multiplied, QueryComponents bytes.
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const {
    if (bits() == CodeBits::kEight) return Quantizer(header_.step).ToQuery(vector, padded);
    FourBitScale({scale_, 2 * size_t{header_.dimensions}}).ToQuery(vector, padded);
  }
  Codes codes() const { return {codes_, bytes_of_codes()}; }
  uint32_t cells() const { return header_.cells; }
  Codes centres() const { return {centres_, bytes_of_codes()}; }
  // The places [first, end) of a cell's nodes whose highest level is `level`.
  struct Places {
    uint32_t first;
    uint32_t end;
  };
  Places cell(uint32_t cell, uint32_t level) const {
    const uint32_t* const at = cells_ + static_cast<size_t>(cell) * header_.levels + level;
    return {at[0], std::min(at[header_.levels], header_.nodes)};
  }
  uint32_t links_max(uint32_t level) const { return level == 0 ? 2 * header_.links : header_.links; }
  // The links as stored in the file: the reader must check that each is a place of the level.
  std::span<const uint32_t> links(uint32_t place, uint32_t level) const {
    const uint32_t width = links_max(level);
    return {links_[level] + static_cast<size_t>(place) * width, width};
  }
  // The rows [first, end) of a node.
  struct Rows {
    uint32_t first;
    uint32_t end;
  };
  // True if some vectors have the same codes; if not, a node's place is its row.
  bool has_equals() const { return header_.nodes < header_.count; }
  Rows rows(uint32_t place) const {
    if (!has_equals()) return {place, place + 1};
    return {std::min(rows_[place], header_.count), std::min(rows_[place + 1], header_.count)};
  }
  uint32_t ordinal(uint32_t row) const { return std::min(ordinals_[row], header_.count - 1); }
  uint32_t place(uint32_t ordinal) const { return std::min(places_[ordinal], header_.nodes - 1); }
  std::span<const Half> vector(uint32_t row) const {
    return {vectors_ + static_cast<size_t>(row) * header_.dimensions, header_.dimensions};
  }
  uint32_t RowOf(uint32_t ordinal) const;
  std::span<const uint32_t> records() const { return {records_, header_.count}; }
  std::span<const uint32_t> passages() const { return {passages_, header_.count}; }
  // Prefetch what RowOf reads, what CosineOf reads, and what CosineOf and ordinal() read.
  void FetchPlace(uint32_t ordinal) const { __builtin_prefetch(&places_[ordinal]); }
  void FetchHalves(uint32_t row) const {
    constexpr size_t kLine = 64 / sizeof(Half);
    const std::span<const Half> halves = vector(row);
    for (size_t at = 0; at < halves.size(); at += kLine) __builtin_prefetch(&halves[at]);
  }
  void FetchVector(uint32_t row) const {
    __builtin_prefetch(&ordinals_[row]);
    FetchHalves(row);
  }
  // Returns the cosine with a vector of length 1; -1 if the bytes are damaged.
  float CosineOf(uint32_t row, std::span<const float> query) const {
    const float cosine = Product(vector(row), query);
    return cosine >= -1 ? std::min(cosine, 1.0f) : -1;
  }

 private:
  VectorHeader header_;
  const float* scale_ = nullptr;
  const uint8_t* codes_ = nullptr;
  const uint8_t* centres_ = nullptr;
  const uint32_t* cells_ = nullptr;
  std::array<const uint32_t*, kLevelsMax> links_{};
  const uint32_t* rows_ = nullptr;
  const uint32_t* ordinals_ = nullptr;
  const uint32_t* places_ = nullptr;
  const uint32_t* records_ = nullptr;
  const uint32_t* passages_ = nullptr;
  const Half* vectors_ = nullptr;
};

// Computes the sum of a whole file, which has at least kHeaderBytes.
uint64_t SumOfVectors(std::span<const uint8_t> bytes);

// Reads everything and checks the sum and every number. Throws Error(kDamaged), kUnsupportedFormat.
void VerifyVectors(std::span<const uint8_t> bytes);

}  // namespace gannet::vectors
