// Filters of vectors that a generation was asked for again and again, prepared for searches (vectors/passing_vectors.h).
//
// Preparing reads what a hundred searches would: a filter is prepared when it comes for the third time. What has not been asked for
// longest goes first, by number and by bytes.
//
// Thread-safety: any thread; it locks by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "../vectors/passing_vectors.h"

namespace gannet {

class PreparedFilters {
 public:
  using Prepared = std::shared_ptr<const vectors::PassingVectors>;

  // Null while the filter of this name is asked for too rarely. `prepare` is called without the lock, now and then by two threads at once.
  Prepared Find(const std::string& name, const std::function<Prepared()>& prepare);

  static constexpr uint32_t kAskedMin = 3;
  static constexpr size_t kNamesMax = 64;
  static constexpr uint64_t kBytesMax = uint64_t{16} << 20;

 private:
  struct Entry {
    std::string name;
    uint32_t asked = 0;
    Prepared prepared = {};
  };
  // To the front; made where it is missing.
  Entry& Use(const std::string& name);
  void Forget();

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last that was asked for first
  uint64_t bytes_ = 0;
};

}  // namespace gannet
