// Caches what was made of an object for some of its fields; keeps the few that were used last.
//
// Thread-safety: any number of threads; locks internally.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace gannet {

template <typename Kept>
class KeptByFields {
 public:
  static constexpr size_t kKeptMax = 4;

  // Returns null if nothing is kept for these fields.
  std::shared_ptr<const Kept> Find(std::span<const uint32_t> fields) {
    const std::lock_guard lock(mutex_);
    const auto found = FindEntry(fields);
    if (found == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front().kept;
  }

  // Replaces what was kept for these fields before.
  void Keep(std::span<const uint32_t> fields, std::shared_ptr<const Kept> kept) {
    const std::lock_guard lock(mutex_);
    if (const auto found = FindEntry(fields); found != entries_.end()) {
      found->kept = std::move(kept);
      return;
    }
    if (entries_.size() == kKeptMax) entries_.pop_back();
    entries_.insert(entries_.begin(), {{fields.begin(), fields.end()}, std::move(kept)});
  }

 private:
  struct Entry {
    std::vector<uint32_t> fields;
    std::shared_ptr<const Kept> kept;
  };

  auto FindEntry(std::span<const uint32_t> fields) {
    return std::ranges::find_if(entries_, [&](const Entry& entry) { return std::ranges::equal(entry.fields, fields); });
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;  // most recently used first
};

}  // namespace gannet
