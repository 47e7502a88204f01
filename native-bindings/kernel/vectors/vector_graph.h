// A graph of vectors that nothing changes any more, as it lies in a file and is searched where it is mapped.
//
// A node is what all vectors of the same codes have in common: texts that occur a thousand times are one node, and hide no others. Nodes
// have places 0 to nodes - 1. Those that reach the highest level come first, then those of the level below and so on, so that
// the links of a level are an array over the first nodes; within a level nodes that are met together are near each other (breadth
// first from the entry). All sections begin at multiples of 64 bytes; numbers are little-endian:
//
//   header      VectorGraphHeader
//   codes       nodes x padded bytes: the components as bytes (code_dot.h)
//   links       of each level, the lowest first: (nodes of the level) x (links of a node of it) u32 places; what is left of a
//               node's row is filled with the node's own place
//   rows        nodes + 1 u32: where the vectors of a node begin among all, and behind the last where they end
//   ordinals    count u32: what the caller calls the vector of a row, 0 to count - 1, each once, rising within a node
//   places      count u32: the place of the node that has the vector of an ordinal
//   vectors     count x dimensions f32 by row, each of length 1: what the best are compared by in the end
//
// Thread-safety: immutable; any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "code_dot.h"
#include "graph_builder.h"

namespace gannet::vectors {

inline constexpr uint32_t kVectorGraphMagic = 0x31475647;  // "GVG1"
inline constexpr uint32_t kVectorGraphFormat = 1;
inline constexpr uint32_t kDimensionsMax = 8192;
inline constexpr uint32_t kVectorsMax = 1u << 30;

struct VectorGraphHeader {
  uint32_t magic;
  uint32_t format;
  uint32_t count;
  uint32_t dimensions;
  uint32_t links;      // of a node on an upper level; twice as many on the lowest
  uint32_t levels;     // at least 1 where there are nodes
  float step;          // what one of a code stands for
  uint32_t nodes;
  uint64_t bytes;      // of the whole file
  uint64_t sum;        // of everything behind the header
  std::array<uint32_t, kLevelsMax> nodes_of_level;
};

// Turns components into codes: each is `step` times a whole number from -127 to 127.
class Quantizer {
 public:
  explicit Quantizer(float step) : step_(step), inverse_(1 / step) {}
  // Of a sample of vectors of length 1: hardly a component lies outside. `vectors` are rows of `dimensions`.
  static Quantizer Of(std::span<const float> vectors);
  float step() const { return step_; }
  int8_t Component(float value) const;
  void ToCodes(std::span<const float> vector, std::span<uint8_t> padded) const;
  void ToQuery(std::span<const float> vector, std::span<int8_t> padded) const;

 private:
  float step_;
  float inverse_;
};

// Makes the length 1. False where that cannot be: the length is 0, or a component is no finite number.
bool Normalize(std::span<float> vector);

// `vectors` are rows of `dimensions`, each normalized; the row's number is its ordinal. Throws Error(kLimit).
std::vector<uint8_t> BuildVectorGraph(std::span<const float> vectors, uint32_t dimensions, GraphOptions options = {});

class VectorGraph {
 public:
  // `bytes` stay as long as the graph and begin at a multiple of 64. Throws Error(kDamaged) where a section does not lie inside, or a
  // link leads outside; kUnsupportedFormat. With `check_sum` all bytes are compared with the sum.
  explicit VectorGraph(std::span<const uint8_t> bytes, bool check_sum = true);

  uint32_t count() const { return header_.count; }
  uint32_t nodes() const { return header_.nodes; }
  uint32_t dimensions() const { return header_.dimensions; }
  uint32_t padded() const { return PaddedDimensions(header_.dimensions); }
  uint32_t levels() const { return header_.levels; }
  Quantizer quantizer() const { return Quantizer(header_.step); }
  Codes codes() const { return {codes_, padded()}; }
  uint32_t links_max(uint32_t level) const { return level == 0 ? 2 * header_.links : header_.links; }
  std::span<const uint32_t> links(uint32_t place, uint32_t level) const {
    const uint32_t width = links_max(level);
    return {links_[level] + static_cast<size_t>(place) * width, width};
  }
  // The rows of a node, from the first up to but without `end`; at least one.
  struct Rows {
    uint32_t first;
    uint32_t end;
  };
  Rows rows(uint32_t place) const { return {rows_[place], rows_[place + 1]}; }
  uint32_t ordinal(uint32_t row) const { return ordinals_[row]; }
  uint32_t place(uint32_t ordinal) const { return places_[ordinal]; }
  std::span<const float> vector(uint32_t row) const {
    return {vectors_ + static_cast<size_t>(row) * header_.dimensions, header_.dimensions};
  }
  // A product of codes as a cosine.
  float Cosine(int32_t product) const { return static_cast<float>(product) * header_.step * header_.step; }

 private:
  VectorGraphHeader header_;
  const uint8_t* codes_ = nullptr;
  std::array<const uint32_t*, kLevelsMax> links_{};
  const uint32_t* rows_ = nullptr;
  const uint32_t* ordinals_ = nullptr;
  const uint32_t* places_ = nullptr;
  const float* vectors_ = nullptr;
};

}  // namespace gannet::vectors
