// A generation is the set of segments and deletions that make up one version of a list at one moment, with everything
// that a search needs to know about it. Publishing a write makes a new generation that shares what did not change.
//
// Thread-safety: immutable after construction.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../segment/segment.h"
#include "part_homes.h"
#include "prepared_filters.h"
#include "vector_homes.h"
#include "vocabulary.h"

namespace gannet {

// The deleted documents of a segment, in chunks of kWindowSize documents that generations share. A null chunk has no
// deletions.
struct DeletionSet {
  using Chunk = std::vector<uint64_t>;  // kWindowSize / 64 words
  std::vector<std::shared_ptr<const Chunk>> chunks;
  uint32_t deleted_count = 0;

  bool Contains(uint32_t document) const {
    const auto& chunk = chunks[document / kWindowSize];
    return chunk && ((*chunk)[(document % kWindowSize) / 64] >> (document % 64) & 1);
  }
};

struct SegmentView {
  std::shared_ptr<const Segment> segment;
  DeletionSet deletions;
  // if the segment belongs to a part; shared by all generations that have the segment
  std::shared_ptr<PartHomes> homes = {};
  // For an added segment: its terms that the previous generation does not have, and the terms that disappear with the
  // segments it replaces. Null if they are not known.
  std::shared_ptr<const std::vector<std::string>> changed_terms = {};
};

// A segment of vectors. Deletions are of ordinals. A vector whose record has no live document in the segments of words
// is ignored, deleted or not.
struct VectorView {
  std::shared_ptr<const vectors::VectorSegment> segment;
  DeletionSet deletions = {};
  std::shared_ptr<VectorHomes> homes = {};  // shared by all generations that have the segment
};

struct Generation {
  std::vector<SegmentView> segments;
  std::vector<VectorView> vectors;
  uint64_t document_count = 0;  // with deleted documents: the N of idf
  uint64_t live_count = 0;
  double average_length = 1;    // weighted tokens per document
  Vocabulary vocabulary;
  std::string settings;         // JSON of the planner; the kernel does not read it
  // Never shared with another generation, because which vectors pass a filter may change with each.
  std::shared_ptr<PreparedFilters> prepared_filters = std::make_shared<PreparedFilters>();
  // Views of this generation with only some text fields (narrowed_generation.h).
  std::shared_ptr<KeptByFields<Generation>> narrowed = std::make_shared<KeptByFields<Generation>>();
};

struct SegmentDeletions {
  std::shared_ptr<const Segment> segment;
  std::vector<uint32_t> documents;  // any order, repeats allowed, below document_count
};

// Segments of vectors are added and removed like those of words. A deletion names records and deletes all of their
// vectors in the segment.
struct VectorChange {
  struct Deletions {
    std::shared_ptr<const vectors::VectorSegment> segment;
    std::vector<uint32_t> records;
  };
  std::vector<VectorView> added = {};
  std::vector<std::shared_ptr<const vectors::VectorSegment>> removed = {};
  std::vector<Deletions> deletions = {};
};

// Returns the generation that follows `base` (may be null): without `removed`, with `added` (which may already have
// deletions), and with `deletions` applied to kept or added segments. `gone_terms` are the terms that disappear with
// `removed` if nothing is added; null if they are not known.
std::shared_ptr<const Generation> DeriveGeneration(const Generation* base, const std::vector<SegmentView>& added,
                                                   const std::vector<std::shared_ptr<const Segment>>& removed,
                                                   const std::vector<SegmentDeletions>& deletions,
                                                   std::string settings, const VectorChange& vectors = {},
                                                   const std::vector<std::string>* gone_terms = nullptr);

// Adds the live vectors of a record to `sum`, which has the vectors' number of dimensions.
void AddVectorsOf(const Generation& generation, uint32_t record, std::span<float> sum);

}  // namespace gannet
