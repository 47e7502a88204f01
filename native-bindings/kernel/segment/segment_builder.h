// Builds segments: from a batch of documents, or from other segments.
//
// Both write to a file in `unfinished/` beside `path`, sync, rename to `path` and sync the directory, so that a file under its
// final name is whole. On failure nothing stays behind. Not thread-safe per path; different paths may be
// built at once.
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
  std::string language = {};  // BCP 47 primary tag; empty, "none" or without a stemmer: no stems
};

struct SegmentSummary {
  uint32_t document_count;
  uint64_t term_count;
  uint64_t file_bytes;
  // Of a merge: terms that were of deleted documents alone, in byte order; with more than kLostTermsMax, so many and one.
  std::vector<std::string> lost_terms = {};
};

inline constexpr size_t kLostTermsMax = 4096;

// `documents` is the encoding of document_batch.h: document i of the segment is the i-th of the batch.
// Error(kInvalidArgument) where the bytes are malformed or name a field or column outside the schema.
SegmentSummary BuildSegment(const std::string& path, const SegmentSchema& schema,
                            std::span<const uint8_t> documents);

// The same from documents that come in pieces. Thread-safety: one thread at a time.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(SegmentSchema schema);
  ~SegmentBuilder();
  SegmentBuilder(const SegmentBuilder&) = delete;
  SegmentBuilder& operator=(const SegmentBuilder&) = delete;

  // Whole documents, one behind the other, in that encoding without the count. None of the bytes are kept.
  void Add(std::span<const uint8_t> documents);
  uint32_t document_count() const;
  // Once, behind the last of them.
  SegmentSummary Write(const std::string& path);

 private:
  class Documents;
  std::unique_ptr<Documents> documents_;
};

struct MergeSource {
  std::shared_ptr<const Segment> segment;
  // One bit per document, set where deleted; empty = none. ceil(document_count / 8) bytes.
  std::vector<uint8_t> deleted;
};

// The live documents of the sources, in their order; all sources have the same schema. A merge that leaves no
// document is Error(kInvalidArgument): the caller drops the sources instead.
// `cancelled`, when given, is polled; a merge that sees it set throws Error(kIo, "cancelled").
SegmentSummary MergeSegments(const std::string& path, const SegmentSchema& schema,
                             const std::vector<MergeSource>& sources,
                             const volatile bool* cancelled = nullptr);

}  // namespace gannet
