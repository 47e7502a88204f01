#include "part_homes.h"

#include <algorithm>
#include <numeric>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../common/error.h"
#include "../common/simd.h"
#include "../common/stop.h"

namespace gannet {
namespace {

void CheckNumber(const Segment& segment, uint16_t index) {
  const std::vector<ColumnMeta>& columns = segment.meta().columns;
  if (index >= columns.size() || columns[index].type != ColumnType::kNumber || columns[index].many) {
    throw Error(ErrorCode::kInvalidArgument, "an index of a part without the columns of its record and place");
  }
}

// For one word of documents: the ends of runs that have a match, all ends, and the number of runs that ended before.
struct FoundEnds {
  uint64_t found;
  uint64_t ends;
  uint32_t first;
};

inline void AddRuns(uint64_t bits, uint32_t first, uint64_t* runs) {
  runs[first / 64] |= bits << first % 64;
  if (first % 64 != 0) runs[first / 64 + 1] |= bits >> (64 - first % 64);
}

// Extracts the bits of `word` that are in `mask` and packs them side by side.
uint64_t Extract(uint64_t word, uint64_t mask) {
  uint64_t bits = 0;
  for (uint64_t rest = word & mask; rest != 0; rest &= rest - 1) {
    bits |= uint64_t{1} << PopCount(mask & ((rest & -rest) - 1));
  }
  return bits;
}

// The runs of a word are consecutive.
void AddRunsBaseline(std::span<const FoundEnds> words, uint64_t* runs) {
  for (const auto& [found, ends, first] : words) AddRuns(Extract(found, ends), first, runs);
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) void AddRunsBmi2(std::span<const FoundEnds> words, uint64_t* runs) {
  for (const auto& [found, ends, first] : words) AddRuns(_pext_u64(found, ends), first, runs);
}

const auto kAddRuns = ProcessorInstructionSets().fast_pext ? AddRunsBmi2 : AddRunsBaseline;
#else
constexpr auto kAddRuns = AddRunsBaseline;
#endif

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
      // The previous run has ended in an earlier word.
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

// The carries of additions move each match to the end of its run.
void RecordRuns::AddRunsWith(const Window& window, uint64_t* runs) const {
  FoundEnds of_words[kWindowWords];
  size_t count = 0;
  uint64_t carry = 0;  // from a match in the previous word to the end of its run
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    const uint64_t matches = window.matches.used >> word & 1 ? window.matches.words[word] : 0;
    if (matches == 0 && carry == 0) continue;
    const uint32_t at = window.range.base / 64 + word;
    // A run that continues in the next window is also reported in this one.
    const uint64_t ends = ends_[at] | uint64_t{word == kWindowWords - 1} << 63;
    const uint64_t inside = ~ends;
    uint64_t sum = (matches & inside) + inside;
    uint64_t next = sum < inside;
    sum += carry;
    next |= sum < carry;
    carry = next;
    const uint64_t found = (sum | matches) & ends;
    if (found != 0) of_words[count++] = {found, ends, ended_[at]};
  }
  kAddRuns(std::span(of_words, count), runs);
}

const RecordRuns& PartHomes::Runs(const Segment& part) {
  std::call_once(once_, [&] { runs_ = std::make_unique<const RecordRuns>(part); });
  return *runs_;
}

std::shared_ptr<const HomesInSegment> PartHomes::In(const std::shared_ptr<const Segment>& fields, const Segment& part) {
  const RecordRuns& runs = Runs(part);
  return homes_.In(fields, runs.count(), [&] {
    std::vector<uint32_t> homes(runs.count(), kNoHome);
    for (uint32_t run = 0; run < runs.count(); ++run) {
      StopIfAskedAt(run);
      if (const auto document = fields->FindDocument(runs.record(run))) homes[run] = *document;
    }
    return homes;
  });
}

}  // namespace gannet
