// What HitCollector knows about hits that are distinct by a column: which hits of its buffer come after another one with
// the same value, and when the buffer has enough values for a first bar.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/stop.h"
#include "distinct_column.h"
#include "hit.h"

namespace gannet {

class DistinctHits {
 public:
  // `wanted` is the number of hits that are kept. Throws as DistinctColumn; the generation must outlive the object.
  DistinctHits(const Generation& generation, uint32_t column, size_t wanted);

  // Number of hits that the buffer has room for.
  size_t buffer_max() const;
  // True if the buffer has about as many values as hits are wanted. Hits with the same value are rarely added, so it may
  // never be full.
  bool has_enough() const { return different_ >= bar_at_; }

  // Returns true if the hit, whose score is final, comes after one of the buffer with the same value; otherwise it is
  // going to be the one at `index`. `comes_first(i)` tells whether the i-th of the buffer comes before the hit.
  template <typename ComesFirst>
  bool IsBehindItsValue(const Hit& hit, size_t index, ComesFirst&& comes_first) {
    const std::optional<DistinctValue> value = column_.ValueOf(hit.segment, hit.document);
    uint32_t* const known = value ? recent_.Find(*value) : nullptr;
    different_ += known == nullptr || *known == RecentValues::kNone;
    if (known == nullptr) return false;
    if (*known != RecentValues::kNone && comes_first(*known)) return true;
    *known = static_cast<uint32_t>(index);
    return false;
  }

  // Removes all but the best of each value from *order, which has hits of the buffer.
  template <typename ComesFirst>
  void KeepFirstOfEachValue(std::span<const Hit> buffer, std::vector<RankedHit>* order, ComesFirst&& comes_first) const {
    std::unordered_map<DistinctValue, size_t, DistinctValueHash> places;
    size_t end = 0;
    for (const RankedHit& each : *order) {
      StopIfAsked();
      const Hit& hit = buffer[each.index];
      const std::optional<DistinctValue> value = column_.ValueOf(hit.segment, hit.document);
      const auto [known, is_new] = value ? places.try_emplace(*value, end) : std::pair(places.end(), true);
      if (is_new) {
        (*order)[end++] = each;
      } else if (RankedHit& first = (*order)[known->second]; comes_first(each, first)) {
        first = each;
      }
    }
    order->resize(end);
  }

  // To be called when the hits of the buffer have moved, with those that are left, which have different values.
  void Moved(std::span<const Hit> buffer);

 private:
  void Remember(const Hit& hit, size_t index);

  DistinctColumn column_;
  RecentValues recent_;
  size_t wanted_;
  size_t different_ = 0;  // about the number of values of the buffer
  size_t bar_at_;         // so many are supposed to be enough for the first bar
};

}  // namespace gannet
