// Builds segments: from a batch of documents, or from other segments.
//
// Both write to a file in `unfinished/` beside `path`, sync it, rename it to `path` and sync the directory, so that a
// file with its final name is complete. On failure nothing is left. Not thread-safe for one path; different paths may
// be built at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "segment.h"

namespace gannet {

struct SegmentSchema {
  std::vector<uint32_t> text_field_weight_units;  // 1..1000 each
  std::vector<ColumnMeta> columns;
  std::string language = {};  // BCP 47 primary tag; empty, "none" or one without a stemmer: no stems
};

struct SegmentSummary {
  uint32_t document_count;
  uint64_t term_count;
  uint64_t file_bytes;
  // For a merge: the terms that only deleted documents had, in byte order. At most kLostTermsMax + 1 of them, which
  // means that there are more than kLostTermsMax.
  std::vector<std::string> lost_terms = {};
};

inline constexpr size_t kLostTermsMax = 4096;

// `documents` has the encoding of document_batch.h: document i of the segment is the i-th of the batch. Throws
// Error(kInvalidArgument) if the bytes are malformed or name a field or column outside the schema.
SegmentSummary BuildSegment(const std::string& path, const SegmentSchema& schema,
                            std::span<const uint8_t> documents);

// Builds a segment from documents that arrive in pieces. Thread-safety: one thread at a time.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(SegmentSchema schema);
  ~SegmentBuilder();
  SegmentBuilder(const SegmentBuilder&) = delete;
  SegmentBuilder& operator=(const SegmentBuilder&) = delete;

  // Adds whole documents, one after the other, in that encoding without the count. The bytes are not kept.
  void Add(std::span<const uint8_t> documents);
  uint32_t document_count() const;
  // To be called once, after the last document.
  SegmentSummary Write(const std::string& path);

 private:
  class Documents;
  std::unique_ptr<Documents> documents_;
};

struct MergeSource {
  std::shared_ptr<const Segment> segment;
  // One bit per document, set if it is deleted; empty = none. ceil(document_count / 8) bytes.
  std::vector<uint8_t> deleted;
};

// Merges the live documents of the sources, in their order. All sources must have the same schema. Throws
// Error(kInvalidArgument) if no document is live: the caller drops the sources instead. If `cancelled` is given it is
// polled, and once it is set, Error(kIo, "cancelled") is thrown.
SegmentSummary MergeSegments(const std::string& path, const SegmentSchema& schema,
                             const std::vector<MergeSource>& sources,
                             const volatile bool* cancelled = nullptr);

}  // namespace gannet
