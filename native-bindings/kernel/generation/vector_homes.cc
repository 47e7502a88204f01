#include "vector_homes.h"

#include "../common/stop.h"

namespace gannet {
namespace {

std::vector<uint32_t> Find(const Segment& words, const vectors::VectorSegment& segment) {
  std::vector<uint32_t> homes(segment.graph().count(), kNoHome);
  const std::span<const uint32_t> records = words.record_numbers();
  uint32_t near = 0;
  for (uint32_t document = 0; document < records.size(); ++document) {
    StopIfAskedAt(document);
    const auto [first, end] = segment.OrdinalsOf(records[document], near);
    if (first == end) continue;
    near = end;
    for (uint32_t ordinal = first; ordinal < end; ++ordinal) homes[ordinal] = document;
  }
  return homes;
}

}  // namespace

std::shared_ptr<const HomesInSegment> VectorHomes::In(const std::shared_ptr<const Segment>& words,
                                                      const vectors::VectorSegment& segment) {
  return homes_.In(words, segment.graph().count(), [&] { return Find(*words, segment); });
}

}  // namespace gannet
