// Counts how many documents have each value of a facet, per segment and over all segments.
//
// Within a segment, values are small numbers in the order of what they stand for, so they are counted in a table, whose
// entries are in that order. The counts of segments are merged in that order. Values, of which there may be many, are
// never hashed.
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

// Keys are compared by <; NaN must not occur.
template <typename Key>
class ValueCounts {
 public:
  struct Entry {
    Key key;
    uint64_t count;
  };

  // Adds the counts of a further segment. If their keys do not ascend, as in a damaged file, a value may be reported
  // more than once.
  void Add(std::vector<Entry> counts) {
    if (!counts.empty()) segments_.push_back(std::move(counts));
  }

  // Returns all counts, sorted by key, and starts over.
  std::vector<Entry> Take() {
    // The smaller ones come first, so that the largest is read once.
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
