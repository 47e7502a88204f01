// Filters of vectors that a generation was asked for again and again, prepared for searches (vectors/passing_vectors.h).
//
// Preparing reads what a few searches would: a filter is prepared when it comes for the third time. Packing its codes reads what hundreds would: that is done when
// it has been asked for as often, so that a generation that is followed by another soon has not paid for it. What has not been asked for longest goes first, by
// number and by bytes.
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

  // Null while the filter of this name is asked for too rarely. `prepare` is called without the lock, now and then by two threads at once, with the bytes that may
  // be packed.
  Prepared Find(const std::string& name, const vectors::VectorGraph& graph, const std::function<Prepared(uint64_t packed_bytes_max)>& prepare);

  static constexpr uint32_t kAskedMin = 3;
  static constexpr size_t kNamesMax = 64;
  static constexpr uint64_t kBytesMax = uint64_t{48} << 20;

 private:
  struct Entry {
    std::string name;
    uint32_t asked = 0;        // since it was prepared, where it is
    uint32_t packed_each = 0;  // so many times packing is due, until it is done: a search that is stopped meanwhile leaves it to another; 0: not at all
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
