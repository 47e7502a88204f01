#include "vector_segment.h"

#include <algorithm>

#include "../common/mapped_memory.h"

namespace gannet::vectors {
namespace {

// Returns the index of the first of `numbers`, which ascend, that is not below `sought`: gallops from `near` in either
// direction.
uint32_t LowerBound(std::span<const uint32_t> numbers, uint32_t sought, uint32_t near) {
  const auto size = static_cast<uint32_t>(numbers.size());
  uint32_t low = 0;
  uint32_t high = size;
  near = std::min(near, size - 1);
  uint32_t step = 1;
  if (numbers[near] < sought) {
    low = near + 1;
    while (near + step < size && numbers[near + step] < sought) {
      low = near + step + 1;
      step *= 2;
    }
    high = std::min<uint64_t>(uint64_t{near} + step, size);
  } else {
    high = near;
    while (step <= near && numbers[near - step] >= sought) {
      high = near - step;
      step *= 2;
    }
    low = step <= near ? near - step + 1 : 0;
  }
  return static_cast<uint32_t>(std::lower_bound(numbers.begin() + low, numbers.begin() + std::max(low, high), sought) -
                               numbers.begin());
}

}  // namespace

std::shared_ptr<const VectorSegment> VectorSegment::Open(const std::string& path) {
  auto segment = std::make_shared<const VectorSegment>(path);
  AskForLargePages(segment->file_.bytes());
  return segment;
}

OrdinalRange VectorSegment::OrdinalsOf(uint32_t record, uint32_t near) const {
  const std::span<const uint32_t> records = graph_.records();
  const uint32_t first_record = records.front();
  const uint32_t last_record = records.back();
  if (record < first_record || record > last_record) return {};
  if (near == 0) near = Near(record);
  const uint32_t first = LowerBound(records, record, near);
  uint32_t end = first;
  while (end < records.size() && records[end] == record) ++end;
  return {first, end};
}

// Record numbers are assigned in sequence, so most records are at a position proportional to their numbers.
uint32_t VectorSegment::Near(uint32_t record) const {
  const std::span<const uint32_t> records = graph_.records();
  const uint32_t first = records.front();
  const uint32_t last = records.back();
  if (last == first) return 0;
  return static_cast<uint32_t>(uint64_t{std::clamp(record, first, last) - first} * (records.size() - 1) / (last - first));
}

void CheckVectorFile(const std::string& path) { VerifyVectors(MappedFile(path).bytes()); }

}  // namespace gannet::vectors
