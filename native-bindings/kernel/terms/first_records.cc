#include "first_records.h"

#include <algorithm>

#include "../common/error.h"
#include "../common/stop.h"
#include "../postings/posting_list.h"

namespace gannet {
namespace {

void AddFirst(const SegmentView& view, const PostingList& list, size_t limit, std::vector<uint32_t>* numbers) {
  const std::span<const uint32_t> record_numbers = view.segment->record_numbers();
  size_t found = 0;
  uint32_t documents[kBlockSize];
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    StopIfAsked();
    list.DecodeDocuments(block, documents);
    for (uint32_t i = 0; i < list.block_length(block); ++i) {
      if (documents[i] >= record_numbers.size()) return;  // only if the list is damaged
      if (view.deletions.deleted_count > 0 && view.deletions.Contains(documents[i])) continue;
      numbers->push_back(record_numbers[documents[i]]);
      if (++found == limit) return;
    }
  }
}

}  // namespace

std::vector<uint32_t> FirstRecords(const Generation& generation, std::string_view term, size_t limit) {
  if (limit > kFirstRecordsMax) throw Error(ErrorCode::kInvalidArgument, "more records than the maximum");
  std::vector<uint32_t> numbers;
  if (limit == 0) return numbers;
  for (const SegmentView& view : generation.segments) AddFirst(view, view.segment->FindTerm(term), limit, &numbers);
  std::sort(numbers.begin(), numbers.end());
  numbers.resize(std::min(numbers.size(), limit));
  return numbers;
}

}  // namespace gannet
