// How many documents have each value of a facet: of one segment after the other, and of all of them.
//
// Within a segment values are small numbers in the order of what they stand for, so they are counted in a table, and what comes of it
// is in order already. Counts of segments are merged in that order: no value is hashed, whose number may be great.
//
// Thread-safety: one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../common/stop.h"

namespace gannet {

// Keys are compared by <, and NaN is none of them.
template <typename Key>
class ValueCounts {
 public:
  struct Entry {
    Key key;
    uint64_t count;
  };

  // Those of a further segment. Where their keys do not ascend, as in a damaged file, values may be told more than once.
  void Add(std::vector<Entry> counts) {
    if (!counts.empty()) segments_.push_back(std::move(counts));
  }

  // All, by their keys. Ends what is known.
  std::vector<Entry> Take() {
    // The smaller ones first, so that the largest is gone through once.
    std::ranges::sort(segments_, {}, [](const std::vector<Entry>& counts) { return counts.size(); });
    std::vector<Entry> all;
    for (std::vector<Entry>& counts : segments_) all = all.empty() ? std::move(counts) : Merge(all, counts);
    segments_.clear();
    return all;
  }

 private:
  static std::vector<Entry> Merge(const std::vector<Entry>& a, const std::vector<Entry>& b) {
    std::vector<Entry> merged;
    merged.reserve(a.size() + b.size());
    size_t i = 0;
    size_t j = 0;
    while (i < a.size() && j < b.size()) {
      StopIfAskedAt(merged.size());
      if (a[i].key < b[j].key) {
        merged.push_back(a[i++]);
      } else if (b[j].key < a[i].key) {
        merged.push_back(b[j++]);
      } else {
        merged.push_back({a[i].key, a[i].count + b[j].count});
        ++i;
        ++j;
      }
    }
    merged.insert(merged.end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
    merged.insert(merged.end(), b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
    return merged;
  }

  std::vector<std::vector<Entry>> segments_;
};

}  // namespace gannet
