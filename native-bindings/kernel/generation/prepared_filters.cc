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

// The front stays, however great it is.
void PreparedFilters::Forget() {
  while (entries_.size() > 1 && (entries_.size() > kNamesMax || bytes_ > kBytesMax)) {
    if (entries_.back().prepared != nullptr) bytes_ -= entries_.back().prepared->bytes();
    entries_.pop_back();
  }
}

PreparedFilters::Prepared PreparedFilters::Find(const std::string& name, const std::function<Prepared()>& prepare) {
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = Use(name);
    Forget();
    if (entry.prepared != nullptr || ++entry.asked < kAskedMin) return entry.prepared;
  }
  Prepared prepared = prepare();
  const std::lock_guard lock(mutex_);
  Entry& entry = Use(name);
  if (entry.prepared == nullptr) {
    entry.prepared = prepared;
    bytes_ += prepared->bytes();
  }
  Forget();
  return prepared;
}

}  // namespace gannet
