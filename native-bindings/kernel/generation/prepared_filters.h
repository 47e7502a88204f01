// Caches the vector filters that a generation is asked for repeatedly, prepared for searches
// (vectors/passing_vectors.h).
//
// Preparing a filter reads as much as a few searches do, so it is prepared at its third request. Packing its codes
// reads as much as hundreds of searches do, so it is done after that many requests: a generation that is soon followed
// by another has then not paid for it. The least recently requested filter is evicted first, by number and by bytes.
//
// Thread-safety: any thread; locks internally.
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

  // Returns null while the filter of this name is requested too rarely. `prepare` is called without the lock, possibly
  // by two threads at once, with the number of bytes that may be packed.
  Prepared Find(const std::string& name, const vectors::VectorGraph& graph, const std::function<Prepared(uint64_t packed_bytes_max)>& prepare);

  static constexpr uint32_t kAskedMin = 3;
  static constexpr size_t kNamesMax = 64;
  static constexpr uint64_t kBytesMax = uint64_t{48} << 20;

 private:
  struct Entry {
    std::string name;
    uint32_t asked = 0;        // number of requests; since it was prepared, if it is
    // Packing is due at every multiple of this number of requests until it is done, so that another search packs if one
    // is stopped; 0: never.
    uint32_t packed_each = 0;
    Prepared prepared = {};
  };
  // Returns the entry, moved to the front; makes it if it is missing.
  Entry& Use(const std::string& name);
  void Forget();

  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently requested first
  uint64_t bytes_ = 0;
};

}  // namespace gannet
