// What was looked up in a segment of the fields about a file that leads to records: where these are.
//
// Both files never change, so it is good for as long as they are open; it is kept beside the file and goes from generation to
// generation with it. Deletions are the generation's.
//
// Thread-safety: any thread; it locks by itself.
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

// The document in a segment of the fields by what leads there; kNoHome where it has none.
class HomesInSegment {
 public:
  static constexpr size_t kAtOnce = 64;

  explicit HomesInSegment(std::vector<uint32_t> documents);

  size_t size() const { return documents_.size(); }
  uint32_t operator[](size_t index) const { return documents_[index]; }
  void Fetch(size_t index) const { __builtin_prefetch(&documents_[index]); }
  // [begin, begin + kAtOnce) lead to as many documents beside each other, in their order. `begin` is a multiple of kAtOnce.
  bool IsStraight(size_t begin) const { return straight_[begin / kAtOnce]; }
  // The one index that leads to the document; kNoHome where it is to be looked up by the record, because none may lead there, or several.
  uint32_t IndexOf(uint32_t document) const {
    const size_t block = document / kAtOnce;
    if (block >= indexes_.size() || indexes_[block] == kNoHome) return kNoHome;
    return indexes_[block] + document % kAtOnce;
  }

 private:
  std::vector<uint32_t> documents_;
  std::vector<bool> straight_;
  std::vector<uint32_t> indexes_;  // of the first of kAtOnce documents, to all of which one index each leads, in their order; else kNoHome
};

class HomesBySegment {
 public:
  // Made by `find` where they are asked for the first time. Null where the segment has too few documents for it to be worth the memory of
  // `count` numbers: then records are looked up one by one.
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
