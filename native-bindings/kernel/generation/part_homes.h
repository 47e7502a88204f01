// Which records the documents of a part's segment lead to, and where these records are in the segments of the fields
// (docs/decisions/0082-parts-of-a-record.md).
//
// Consecutive documents that lead to the same record, such as the pages of a file, form a *run*. Work that would be
// done for all matching documents is done for their runs, which are fewer. The runs of 64 documents at a time are found
// by the carries of an addition.
//
// Thread-safety: any thread; PartHomes locks internally.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../segment/segment.h"
#include "../window/window.h"
#include "homes_by_segment.h"

namespace gannet {

inline constexpr uint16_t kPartRecordColumn = 0;  // the record number
inline constexpr uint16_t kPartPlaceColumn = 1;  // which of the record's documents this is, for example the page number

// Throws Error(kInvalidArgument) if the segment does not belong to a part.
void CheckPart(const Segment& segment);

// Returns the number in one of these columns, or kNoHome if it has none or none that is valid.
uint32_t PartNumber(const Column& column, uint32_t document);

class RecordRuns {
 public:
  // `part` must have passed CheckPart.
  explicit RecordRuns(const Segment& part);

  uint32_t count() const { return static_cast<uint32_t>(records_.size()); }
  // Record and documents [begin, end) of a run.
  uint32_t record(uint32_t run) const { return records_[run]; }
  uint32_t begin(uint32_t run) const { return begins_[run]; }
  uint32_t end(uint32_t run) const { return begins_[run + 1]; }

  uint32_t RunOf(uint32_t document) const {
    const uint64_t below = (uint64_t{1} << document % 64) - 1;
    return ended_[document / 64] + static_cast<uint32_t>(std::popcount(ends_[document / 64] & below));
  }

  // Returns the runs of a record.
  std::span<const uint32_t> Of(uint32_t record) const;

  // Sets the bits of the runs that have a document among the matches of the window. `runs` has RunWords() words.
  void AddRunsWith(const Window& window, uint64_t* runs) const;
  size_t RunWords() const { return (records_.size() + 63) / 64 + 1; }

 private:
  std::vector<uint64_t> ends_;       // one bit per document, set for the last one of each run; whole windows
  std::vector<uint32_t> ended_;      // by word: number of runs that ended before
  std::vector<uint32_t> records_;    // by run
  std::vector<uint32_t> begins_;     // by run; at the end, the number of documents
  std::vector<uint32_t> by_record_;  // runs, sorted by record
};

class PartHomes {
 public:
  const RecordRuns& Runs(const Segment& part);
  // Returns the document of each run. Null if `fields` has too few documents (see HomesBySegment).
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& fields, const Segment& part);

 private:
  std::once_flag once_;
  std::unique_ptr<const RecordRuns> runs_;
  HomesBySegment homes_;
};

}  // namespace gannet
