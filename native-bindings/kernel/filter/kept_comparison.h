// What passes one comparison of a filter in a segment, kept for the searches that follow: the same filter comes again and again (what is in
// stock, what belongs to a customer, what a facet chose), and to look up a bit is less than to compare a value.
//
// Thread-safety: an object belongs to one thread; what is kept with the segment is shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../query/query_plan.h"
#include "../segment/segment.h"

namespace gannet {

// A name of the comparison: two that have the same are the same.
std::string ComparisonKey(const FilterNode& source);

class KeptComparison {
 public:
  // Nothing is kept.
  KeptComparison() = default;
  // Of small segments nothing is kept.
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

  // The documents that pass, a bit each, of whole windows; null where they are not kept.
  const uint64_t* bits() const { return shared_ == nullptr || shared_->bits.empty() ? nullptr : shared_->bits.data(); }

  // So many documents are looked at for it. Where it is kept already, it does nothing.
  bool counts() const { return shared_ != nullptr && shared_->bits.empty(); }
  void LookAt(uint32_t documents) const { looked_at_ += documents; }
  // As much was looked at as keeping it takes, by this search and those before.
  bool IsWorthKeeping() const;
  void Keep(std::vector<uint64_t> bits);

 private:
  const Segment* segment_ = nullptr;
  std::string key_;
  ComparisonBits shared_;
  mutable uint64_t looked_at_ = 0;
};

}  // namespace gannet
