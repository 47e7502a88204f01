#include "vector_homes.h"

#include "../common/stop.h"

namespace gannet {
namespace {

// Of the vectors, one in so many at least has to be in a segment.
constexpr uint32_t kShareMin = 16;

std::shared_ptr<const HomesInSegment> Find(const Segment& words, const vectors::VectorSegment& segment) {
  auto homes = std::make_shared<HomesInSegment>(segment.graph().count(), kNoHome);
  const std::span<const uint32_t> records = words.record_numbers();
  uint32_t near = 0;
  for (uint32_t document = 0; document < records.size(); ++document) {
    StopIfAskedAt(document);
    const auto [first, end] = segment.OrdinalsOf(records[document], near);
    if (first == end) continue;
    near = end;
    for (uint32_t ordinal = first; ordinal < end; ++ordinal) (*homes)[ordinal] = document;
  }
  return homes;
}

}  // namespace

std::shared_ptr<const HomesInSegment> VectorHomes::In(const std::shared_ptr<const Segment>& words,
                                                      const vectors::VectorSegment& segment) {
  if (words->document_count() < segment.graph().count() / kShareMin) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(words.get());
  // Another segment may have come to lie where a closed one was.
  if (found != entries_.end() && found->second.words.lock() == words) return found->second.homes;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.words.expired(); });
  const std::shared_ptr<const HomesInSegment> homes = Find(*words, segment);
  entries_.insert_or_assign(words.get(), Entry{words, homes});
  return homes;
}

}  // namespace gannet
