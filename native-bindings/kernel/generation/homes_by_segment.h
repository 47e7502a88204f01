// Caches, for one file whose documents or vectors lead to records, where these records are in a segment of the fields.
//
// Both files are immutable, so a cached answer is valid as long as both are open. It is kept with the file and passes
// from generation to generation with it. Deletions are not considered; the generation has them.
//
// Thread-safety: any thread; locks internally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "../segment/segment.h"

namespace gannet {

inline constexpr uint32_t kNoHome = 0xffffffffu;

// For each index (a document of a part, or an ordinal of a vector), its document in a segment of the fields, or kNoHome
// if there is none. Takes memory for the indexes from the first to the last that has a document there: a list that is
// being rebuilt has many segments, each with the records of one stretch.
class HomesInSegment {
 public:
  static constexpr size_t kAtOnce = 64;

  explicit HomesInSegment(std::span<const uint32_t> documents);

  size_t size() const { return size_; }
  uint32_t operator[](size_t index) const {
    const size_t place = index - begin_;
    return place < documents_.size() ? documents_[place] : kNoHome;
  }
  void Fetch(size_t index) const {
    const size_t place = index - begin_;
    if (place < documents_.size()) __builtin_prefetch(&documents_[place]);
  }
  // Returns true if the indexes [begin, begin + kAtOnce) lead to consecutive documents in ascending order. `begin` is a
  // multiple of kAtOnce.
  bool IsStraight(size_t begin) const {
    const size_t block = (begin - begin_) / kAtOnce;
    return block < straight_.size() && straight_[block];
  }
  // Returns the memory that is allocated.
  size_t bytes() const {
    return (documents_.capacity() + indexes_.capacity()) * sizeof(uint32_t) + straight_.capacity() / 8;
  }
  // Returns the only index that leads to the document. kNoHome means that the document has to be looked up by its
  // record, because none or several may lead to it.
  uint32_t IndexOf(uint32_t document) const {
    const size_t block = document / kAtOnce;
    if (block >= indexes_.size() || indexes_[block] == kNoHome) return kNoHome;
    return indexes_[block] + document % kAtOnce;
  }

 private:
  size_t size_;
  size_t begin_ = 0;                 // a multiple of kAtOnce
  std::vector<uint32_t> documents_;  // of the indexes from begin_ on
  std::vector<bool> straight_;       // by kAtOnce of these
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
