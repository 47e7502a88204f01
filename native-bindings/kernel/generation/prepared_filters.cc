#include "prepared_filters.h"

#include <algorithm>
#include <utility>

namespace gannet {

PreparedFilters::Entry& PreparedFilters::Use(const std::string& name) {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) {
    entries_.push_front({name});
  } else {
    entries_.splice(entries_.begin(), entries_, found);
  }
  return entries_.front();
}

// The front entry is kept, however large it is.
void PreparedFilters::Forget() {
  while (entries_.size() > 1 && (entries_.size() > kNamesMax || bytes_ > kBytesMax)) {
    if (entries_.back().prepared != nullptr) bytes_ -= entries_.back().prepared->bytes();
    entries_.pop_back();
  }
}

PreparedFilters::Prepared PreparedFilters::Find(const std::string& name, const vectors::VectorGraph& graph,
                                                const std::function<Prepared(uint64_t packed_bytes_max)>& prepare) {
  bool is_packed = false;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = Use(name);
    Forget();
    ++entry.asked;
    is_packed = entry.prepared != nullptr && entry.packed_each > 0 && entry.asked % entry.packed_each == 0;
    if (!is_packed && (entry.prepared != nullptr || entry.asked < kAskedMin)) return entry.prepared;
  }
  Prepared prepared = prepare(is_packed ? vectors::PassingVectors::kPackedBytesMax : 0);
  const std::lock_guard lock(mutex_);
  Entry& entry = Use(name);
  if (entry.prepared == nullptr || is_packed) {
    if (entry.prepared != nullptr) bytes_ -= entry.prepared->bytes();
    entry.prepared = prepared;
    bytes_ += prepared->bytes();
    entry.asked = 0;
    entry.packed_each = prepared->PackingPaysAfter(graph);
  }
  Forget();
  return prepared;
}

}  // namespace gannet
