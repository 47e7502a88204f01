// A generation: the segments and deletions that make up one list version at one moment, and everything that a
// search needs to know about it. Immutable; publishing a write makes a new one that shares what did not
// change.
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

// Deleted documents of a segment, in chunks of kWindowSize documents that generations share. A null chunk has no
// deletion.
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
  std::shared_ptr<PartHomes> homes = {};  // of a part's segment: shared by all generations that have it
  // Said of one that is added: its terms that the generation before does not have, and those that go with the segments that it takes the
  // place of. Null: not known.
  std::shared_ptr<const std::vector<std::string>> changed_terms = {};
};

// Deletions are of ordinals. What leads to no live document of the words counts for nothing, deleted or not.
struct VectorView {
  std::shared_ptr<const vectors::VectorSegment> segment;
  DeletionSet deletions = {};
  std::shared_ptr<VectorHomes> homes = {};  // shared by all generations that have the segment
};

struct Generation {
  std::vector<SegmentView> segments;
  std::vector<VectorView> vectors;
  uint64_t document_count = 0;  // deleted ones included: the N of idf
  uint64_t live_count = 0;
  double average_length = 1;    // weighted tokens per document
  Vocabulary vocabulary;
  std::string settings;         // opaque to the kernel; the planner's JSON
  std::shared_ptr<PreparedFilters> prepared_filters = std::make_shared<PreparedFilters>();  // of its own: what passes changes with each
};

struct SegmentDeletions {
  std::shared_ptr<const Segment> segment;
  std::vector<uint32_t> documents;  // any order, repeats allowed, below document_count
};

// Segments of vectors come and go as those of words do, and deletions name records: all of their vectors in the segment.
struct VectorChange {
  struct Deletions {
    std::shared_ptr<const vectors::VectorSegment> segment;
    std::vector<uint32_t> records;
  };
  std::vector<VectorView> added = {};
  std::vector<std::shared_ptr<const vectors::VectorSegment>> removed = {};
  std::vector<Deletions> deletions = {};
};

// The generation after `base` (may be null): without `removed`, with `added` (which may come with deletions
// already), with `deletions` applied to kept or added segments. `gone_terms`: those that go with `removed` where nothing is added, null
// where they are not known.
std::shared_ptr<const Generation> DeriveGeneration(const Generation* base, const std::vector<SegmentView>& added,
                                                   const std::vector<std::shared_ptr<const Segment>>& removed,
                                                   const std::vector<SegmentDeletions>& deletions,
                                                   std::string settings, const VectorChange& vectors = {},
                                                   const std::vector<std::string>* gone_terms = nullptr);

// Adds the vectors of a record that were not deleted to `sum`, which has as many numbers as they have.
void AddVectorsOf(const Generation& generation, uint32_t record, std::span<float> sum);

}  // namespace gannet
