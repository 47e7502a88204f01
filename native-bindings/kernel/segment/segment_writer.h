// Lays out a segment file, for building and for merging.
//
// The parts must be written in the order of their keys: columns, field lengths, meta, norms, postings, record numbers,
// stems, terms, spelling. AddTerm takes terms with their lists; the terms' entries are kept in memory until the lists
// are written.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../columns/column_writer.h"
#include "../common/file.h"
#include "../vocabulary/spelling_index.h"
#include "../vocabulary/stem_group.h"
#include "lmdb_writer.h"
#include "segment_builder.h"
#include "segment_meta.h"

namespace gannet {

class SegmentWriter {
 public:
  SegmentWriter(const std::string& path, const SegmentSchema& schema, uint32_t document_count, uint64_t size_bytes_max);

  void WriteColumn(uint32_t column, ColumnWriter* values);
  // To be called for the fields in order. Sums the token counts and weighted lengths for the meta data.
  void WriteFieldLengths(uint32_t field, std::span<const uint32_t> lengths);
  // To be called in the order of the fields, after the lengths of all fields were written.
  void WritePartLengths(uint32_t field, std::span<const uint32_t> lengths);
  // To be called after the field lengths.
  void WriteNorms(std::span<const uint8_t> norms);
  float AverageLength() const;
  // To be called for the terms in byte order.
  void AddTerm(std::string_view term, std::span<const uint8_t> list);
  // Writes everything else and gives the file its name. Throws Error(kInvalidArgument) if a record number occurs twice.
  SegmentSummary Finish(std::span<const uint32_t> record_numbers);

 private:
  void WriteLengths(uint32_t index, std::span<const uint32_t> lengths);
  void FlushChunk();
  // Calls visit(term, value) in byte order.
  void VisitEntries(const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) const;
  void WriteStemGroups(SpellingIndexWriter* spelling);
  void WriteTerms();
  void WriteSpelling(const SpellingIndexWriter& spelling);

  std::string path_;
  std::string temporary_path_;
  UnlinkGuard guard_;
  LmdbWriter file_;
  SegmentMeta meta_;
  std::vector<uint8_t> chunk_;
  uint32_t chunk_count_ = 0;
  std::vector<uint8_t> entries_;  // u16 key bytes, u16 value bytes, key, value
};

// Throws Error(kInvalidArgument) or Error(kLimit) if the schema is not valid.
void CheckSchema(const SegmentSchema& schema);

}  // namespace gannet
