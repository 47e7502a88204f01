#include "homes_by_segment.h"

namespace gannet {
namespace {

// Of what leads to records, one in so many at least has to be in a segment.
constexpr uint32_t kShareMin = 16;

}  // namespace

std::shared_ptr<const HomesInSegment> HomesBySegment::In(const std::shared_ptr<const Segment>& fields, uint32_t count,
                                                         const std::function<HomesInSegment()>& find) {
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
