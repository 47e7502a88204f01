// Which records the documents of a part's segment lead to, and where these are in the segments of the fields
// (docs/decisions/0082-parts-of-a-record.md).
//
// Documents of one record that stand beside each other, as the pages of a file do, are a *run*. What is asked of all documents that match is
// asked of their runs, which are fewer, and found with the carries of additions, 64 documents at a time.
//
// Thread-safety: any thread; PartHomes locks by itself.
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

inline constexpr uint16_t kPartRecordColumn = 0;  // of the record
inline constexpr uint16_t kPartPlaceColumn = 1;   // which of its documents: a page's number

// Error(kInvalidArgument) where the segment is not one of a part.
void CheckPart(const Segment& segment);

// The number in one of these columns; kNoHome where there is none that can be.
uint32_t PartNumber(const Column& column, uint32_t document);

class RecordRuns {
 public:
  // Of a segment that CheckPart lets pass.
  explicit RecordRuns(const Segment& part);

  uint32_t count() const { return static_cast<uint32_t>(records_.size()); }
  // Of a run.
  uint32_t record(uint32_t run) const { return records_[run]; }
  uint32_t begin(uint32_t run) const { return begins_[run]; }
  uint32_t end(uint32_t run) const { return begins_[run + 1]; }

  uint32_t RunOf(uint32_t document) const {
    const uint64_t below = (uint64_t{1} << document % 64) - 1;
    return ended_[document / 64] + static_cast<uint32_t>(std::popcount(ends_[document / 64] & below));
  }

  // The runs of a record.
  std::span<const uint32_t> Of(uint32_t record) const;

  // Sets the bits of the runs that have a document among the matches of the window. `runs` has RunWords() words.
  void AddRunsWith(const Window& window, uint64_t* runs) const;
  size_t RunWords() const { return (records_.size() + 63) / 64 + 1; }

 private:
  std::vector<uint64_t> ends_;       // a bit a document: the last of its run; whole windows
  std::vector<uint32_t> ended_;      // by word: runs that have ended before
  std::vector<uint32_t> records_;    // by run
  std::vector<uint32_t> begins_;     // by run, and the number of documents
  std::vector<uint32_t> by_record_;  // runs in the order of their records
};

class PartHomes {
 public:
  const RecordRuns& Runs(const Segment& part);
  // The document of each run. Null where `fields` has too few documents: HomesBySegment.
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& fields, const Segment& part);

 private:
  std::once_flag once_;
  std::unique_ptr<const RecordRuns> runs_;
  HomesBySegment homes_;
};

}  // namespace gannet
