#include "narrowed_generation.h"

#include <algorithm>
#include <utility>

#include "../segment/narrowed_segment.h"

namespace gannet {
namespace {

bool IsFull(const SegmentView& view) { return static_cast<const NarrowedSegment&>(*view.segment).is_full(); }

// Returns the kept view, or a new one if there is none or it has no more room.
std::shared_ptr<const NarrowedSegment> NarrowSegment(const Segment& whole, std::span<const uint32_t> fields) {
  auto kept = whole.narrowed().Find(fields);
  if (kept && !kept->is_full()) return kept;
  auto narrowed = kept ? std::make_shared<const NarrowedSegment>(&whole, *kept)
                       : std::make_shared<const NarrowedSegment>(&whole, fields);
  whole.narrowed().Keep(fields, narrowed);
  return narrowed;
}

// A view and the segment that it reads, so that one pointer holds both.
struct Both {
  std::shared_ptr<const Segment> whole;
  std::shared_ptr<const NarrowedSegment> narrowed;
};

}  // namespace

std::shared_ptr<const Generation> NarrowGeneration(const Generation& whole, std::span<const uint32_t> fields) {
  if (auto kept = whole.narrowed->Find(fields); kept && std::ranges::none_of(kept->segments, IsFull)) return kept;
  auto generation = std::make_shared<Generation>();
  generation->document_count = whole.document_count;
  generation->live_count = whole.live_count;
  uint64_t length_sum = 0;
  for (const SegmentView& view : whole.segments) {
    const auto both = std::make_shared<const Both>(view.segment, NarrowSegment(*view.segment, fields));
    length_sum += both->narrowed->meta().weighted_length_sum;
    SegmentView& added = generation->segments.emplace_back(view);
    added.segment = std::shared_ptr<const Segment>(both, both->narrowed.get());
  }
  if (generation->document_count > 0) {
    const double average = static_cast<double>(length_sum) / static_cast<double>(generation->document_count);
    generation->average_length = std::max(1.0, average);
  }
  whole.narrowed->Keep(fields, generation);
  return generation;
}

}  // namespace gannet
