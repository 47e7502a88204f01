#include "part_homes.h"

#include <algorithm>
#include <numeric>

#include "../common/error.h"
#include "../common/stop.h"

namespace gannet {
namespace {

void CheckNumber(const Segment& segment, uint16_t index) {
  const std::vector<ColumnMeta>& columns = segment.meta().columns;
  if (index >= columns.size() || columns[index].type != ColumnType::kNumber || columns[index].many) {
    throw Error(ErrorCode::kInvalidArgument, "an index of a part without the columns of its record and place");
  }
}

}  // namespace

void CheckPart(const Segment& segment) {
  CheckNumber(segment, kPartRecordColumn);
  CheckNumber(segment, kPartPlaceColumn);
}

uint32_t PartNumber(const Column& column, uint32_t document) {
  const double number = column.ValueCount(document) == 0 ? -1 : column.Number(document);
  return number >= 0 && number < kNoHome ? static_cast<uint32_t>(number) : kNoHome;
}

RecordRuns::RecordRuns(const Segment& part) {
  const Column& column = part.column(kPartRecordColumn);
  const uint32_t documents = part.document_count();
  ends_.resize((documents + kWindowSize - 1) / kWindowSize * size_t{kWindowWords});
  ended_.resize(ends_.size());
  for (uint32_t document = 0; document < documents; ++document) {
    StopIfAskedAt(document);
    if (document % 64 == 0) ended_[document / 64] = document == 0 ? 0 : count() - 1;
    const uint32_t record = PartNumber(column, document);
    if (records_.empty() || record != records_.back()) {
      if (document > 0) ends_[(document - 1) / 64] |= uint64_t{1} << (document - 1) % 64;
      // The run before has ended in a word before this one.
      if (document % 64 == 0) ended_[document / 64] = count();
      records_.push_back(record);
      begins_.push_back(document);
    }
  }
  if (documents > 0) ends_[(documents - 1) / 64] |= uint64_t{1} << (documents - 1) % 64;
  begins_.push_back(documents);
  by_record_.resize(records_.size());
  std::iota(by_record_.begin(), by_record_.end(), 0u);
  std::ranges::stable_sort(by_record_, {}, [&](uint32_t run) { return records_[run]; });
}

std::span<const uint32_t> RecordRuns::Of(uint32_t record) const {
  const auto found = std::ranges::equal_range(by_record_, record, {}, [&](uint32_t run) { return records_[run]; });
  return {found.begin(), found.end()};
}

const RecordRuns& PartHomes::Runs(const Segment& part) {
  std::call_once(once_, [&] { runs_ = std::make_unique<const RecordRuns>(part); });
  return *runs_;
}

std::shared_ptr<const HomesInSegment> PartHomes::In(const std::shared_ptr<const Segment>& fields, const Segment& part) {
  const RecordRuns& runs = Runs(part);
  return homes_.In(fields, runs.count(), [&] {
    HomesInSegment homes(runs.count(), kNoHome);
    for (uint32_t run = 0; run < runs.count(); ++run) {
      StopIfAskedAt(run);
      if (const auto document = fields->FindDocument(runs.record(run))) homes[run] = *document;
    }
    return homes;
  });
}

}  // namespace gannet
