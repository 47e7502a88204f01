// Caches which documents of a segment pass one comparison of a filter. The same filter comes again and again (what is
// in stock, what belongs to a customer, the chosen value of a facet), and looking up a bit is cheaper than comparing a
// value.
//
// Thread-safety: an object belongs to one thread; the bits cached with the segment are shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../query/query_plan.h"
#include "../segment/segment.h"

namespace gannet {

// Returns a key that is equal for equal comparisons only.
std::string ComparisonKey(const FilterNode& source);

class KeptComparison {
 public:
  // Caches nothing.
  KeptComparison() = default;
  // Caches nothing for small segments.
  KeptComparison(const Segment& segment, std::string key);
  KeptComparison(KeptComparison&&) = default;
  KeptComparison& operator=(KeptComparison&& other) noexcept {
    std::swap(segment_, other.segment_);
    std::swap(key_, other.key_);
    std::swap(shared_, other.shared_);
    std::swap(looked_at_, other.looked_at_);
    return *this;
  }
  ~KeptComparison();

  // One bit per document that passes, in whole windows; null if they are not cached.
  const uint64_t* bits() const { return shared_ == nullptr || shared_->bits.empty() ? nullptr : shared_->bits.data(); }

  // Records how many documents the comparison examined. Not needed if the bits are cached already (counts() is false).
  bool counts() const { return shared_ != nullptr && shared_->bits.empty(); }
  void LookAt(uint32_t documents) const { looked_at_ += documents; }
  // Returns true if this search and earlier ones have examined as many documents as filling the cache would.
  bool IsWorthKeeping() const;
  void Keep(std::vector<uint64_t> bits);

 private:
  const Segment* segment_ = nullptr;
  std::string key_;
  ComparisonBits shared_;
  mutable uint64_t looked_at_ = 0;
};

}  // namespace gannet
