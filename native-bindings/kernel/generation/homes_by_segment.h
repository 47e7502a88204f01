// Caches, for one file whose documents or vectors lead to records, where these records are in a segment of the fields.
//
// Both files are immutable, so a cached answer is valid as long as both are open. It is kept with the file and passes
// from generation to generation with it. Deletions are not considered; the generation has them.
//
// Thread-safety: any thread; locks internally.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../segment/segment.h"

namespace gannet {

inline constexpr uint32_t kNoHome = 0xffffffffu;

// For each index (a document of a part, or an ordinal of a vector), its document in a segment of the fields, or kNoHome
// if there is none.
class HomesInSegment {
 public:
  static constexpr size_t kAtOnce = 64;

  explicit HomesInSegment(std::vector<uint32_t> documents);

  size_t size() const { return documents_.size(); }
  uint32_t operator[](size_t index) const { return documents_[index]; }
  void Fetch(size_t index) const { __builtin_prefetch(&documents_[index]); }
  // Returns true if the indexes [begin, begin + kAtOnce) lead to consecutive documents in ascending order. `begin` is a
  // multiple of kAtOnce.
  bool IsStraight(size_t begin) const { return straight_[begin / kAtOnce]; }
  // Returns the only index that leads to the document. kNoHome means that the document has to be looked up by its
  // record, because none or several may lead to it.
  uint32_t IndexOf(uint32_t document) const {
    const size_t block = document / kAtOnce;
    if (block >= indexes_.size() || indexes_[block] == kNoHome) return kNoHome;
    return indexes_[block] + document % kAtOnce;
  }

 private:
  std::vector<uint32_t> documents_;
  std::vector<bool> straight_;
  // For each block of kAtOnce documents: the index that leads to its first one, if exactly one index leads to each and
  // the indexes are consecutive; else kNoHome.
  std::vector<uint32_t> indexes_;
};

class HomesBySegment {
 public:
  // Returns the cached homes, made by `find` on the first request. Null if the segment has too few documents to be
  // worth the memory of `count` numbers: records are then looked up one by one.
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& fields, uint32_t count,
                                           const std::function<std::vector<uint32_t>()>& find);

 private:
  struct Entry {
    std::weak_ptr<const Segment> fields;
    std::shared_ptr<const HomesInSegment> homes;
  };
  std::mutex mutex_;
  std::unordered_map<const Segment*, Entry> entries_;
};

}  // namespace gannet
