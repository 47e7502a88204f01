// Writes the vectors of a segment (vector_graph.h): from vectors as they come, or from those of other segments.
//
// A file is written in `unfinished/` beside `path`, synced, renamed to `path` and its directory synced, so that a file under its final
// name is whole; on failure nothing stays behind. What is in memory meanwhile are codes and links, some BytesWhileWriting: vectors are
// read where they lie. Work can be stopped (common/stop.h).
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

// Vectors as they come: one behind the other, of any length above zero.
struct VectorRows {
  uint32_t dimensions = 0;
  std::span<const float> vectors;
  std::span<const uint32_t> records;    // record number of each
  std::span<const uint32_t> passages;   // which of the record's vectors it is
};

struct VectorMergeSource {
  std::shared_ptr<const VectorSegment> segment;
  std::vector<uint8_t> deleted = {};  // a bit an ordinal, the least significant first; may end early
};

struct VectorSummary {
  uint32_t count;
  uint32_t nodes;
  uint32_t dimensions;
  uint64_t file_bytes;
  bool has_graph;  // as `options` have it: what lacks one is found all the same, each code compared
};

// Error(kInvalidArgument) where there is no vector, one of a length of zero or with a component that is no finite number, or two are the
// same passage of the same record; kLimit.
VectorSummary BuildVectors(const std::string& path, const VectorRows& rows, GraphOptions options = {});
// The same in memory.
std::vector<uint8_t> EncodeVectors(const VectorRows& rows, GraphOptions options = {});

// All vectors of the sources that are not deleted. Error(kInvalidArgument) where that leaves none, or dimensions differ.
VectorSummary MergeVectors(const std::string& path, std::span<const VectorMergeSource> sources, GraphOptions options = {});

// What building takes, about: so much has to be free.
uint64_t BytesWhileWriting(uint64_t count, uint32_t dimensions);

}  // namespace gannet::vectors
