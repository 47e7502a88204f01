#include "homes_by_segment.h"

#include <utility>

namespace gannet {
namespace {

// Of what leads to records, one in so many at least has to be in a segment.
constexpr uint32_t kShareMin = 16;

}  // namespace

HomesInSegment::HomesInSegment(std::vector<uint32_t> documents)
    : documents_(std::move(documents)), straight_((documents_.size() + kAtOnce - 1) / kAtOnce) {
  for (size_t begin = 0; begin + kAtOnce <= documents_.size(); begin += kAtOnce) {
    const uint32_t first = documents_[begin];
    size_t same = 0;
    while (same < kAtOnce && first < kNoHome - kAtOnce && documents_[begin + same] == first + same) ++same;
    straight_[begin / kAtOnce] = same == kAtOnce;
  }
}

std::shared_ptr<const HomesInSegment> HomesBySegment::In(const std::shared_ptr<const Segment>& fields, uint32_t count,
                                                         const std::function<std::vector<uint32_t>()>& find) {
  if (fields->document_count() < count / kShareMin) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fields.get());
  // Another segment may have come to lie where a closed one was.
  if (found != entries_.end() && found->second.fields.lock() == fields) return found->second.homes;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.fields.expired(); });
  const auto homes = std::make_shared<const HomesInSegment>(find());
  entries_.insert_or_assign(fields.get(), Entry{fields, homes});
  return homes;
}

}  // namespace gannet
