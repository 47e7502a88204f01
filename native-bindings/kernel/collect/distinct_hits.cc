#include "distinct_hits.h"

#include <algorithm>

namespace gannet {
namespace {

// Minimum number of hits for which there is room besides those wanted. Few are added, each of them better than another
// one, and the bar rises only when the buffer is full.
constexpr size_t kSpareDistinctMin = 8;

}  // namespace

DistinctHits::DistinctHits(const Generation& generation, uint32_t column, size_t wanted)
    : column_(generation, column), wanted_(wanted), bar_at_(wanted) {}

size_t DistinctHits::buffer_max() const { return wanted_ + std::max(wanted_ / 4, kSpareDistinctMin); }

void DistinctHits::Moved(std::span<const Hit> buffer) {
  recent_.Forget();
  different_ = 0;
  for (size_t i = 0; i < buffer.size(); ++i) Remember(buffer[i], i);
  // Values that took each other's place were counted again and again. The next choice looks at all of these hits, so it
  // comes only after a share of as many, as if the buffer were full.
  bar_at_ = std::max(wanted_, different_ + buffer_max() - wanted_);
}

void DistinctHits::Remember(const Hit& hit, size_t index) {
  const std::optional<DistinctValue> value = column_.ValueOf(hit.segment, hit.document);
  if (uint32_t* const known = value ? recent_.Find(*value) : nullptr; known != nullptr) *known = static_cast<uint32_t>(index);
  ++different_;
}

}  // namespace gannet
