// Writes the vectors of a segment (vector_graph.h), from new vectors or from those of other segments.
//
// A file is written in `unfinished/` beside `path`, synced and renamed to `path`, and the directory is synced, so that
// a file with its final name is complete; on failure nothing is left. Codes and links are held in memory meanwhile,
// about BytesWhileWriting; vectors are read in place. The work can be stopped (common/stop.h).
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph_builder.h"
#include "vector_segment.h"

namespace gannet::vectors {

// New vectors, one after the other, of any length above zero.
struct VectorRows {
  uint32_t dimensions = 0;
  std::span<const float> vectors;
  std::span<const uint32_t> records;    // record number of each
  std::span<const uint32_t> passages;   // which of its record's vectors each one is
};

struct VectorMergeSource {
  std::shared_ptr<const VectorSegment> segment;
  std::vector<uint8_t> deleted = {};  // one bit per ordinal, the least significant first; may end early
};

struct VectorSummary {
  uint32_t count;
  uint32_t nodes;
  uint32_t dimensions;
  uint64_t file_bytes;
  bool has_graph;  // without a graph, vectors are found by comparing every code
};

// Throws Error(kInvalidArgument) if there is no vector, a vector has length zero or a component that is not finite, or
// two are the same passage of the same record; Error(kLimit).
VectorSummary BuildVectors(const std::string& path, const VectorRows& rows, GraphOptions options = {});
// The same in memory.
std::vector<uint8_t> EncodeVectors(const VectorRows& rows, GraphOptions options = {});

// Merges the live vectors of the sources. Throws Error(kInvalidArgument) if none is left or their dimensions differ.
VectorSummary MergeVectors(const std::string& path, std::span<const VectorMergeSource> sources, GraphOptions options = {});

// Returns the approximate memory that building takes, which must be available.
uint64_t BytesWhileWriting(uint64_t count, uint32_t dimensions);

}  // namespace gannet::vectors
