// Where the records of a segment's vectors are in the segments of words.
//
// Both files never change, so what was looked up for two of them is good for as long as they are open; it is kept beside the vectors and goes from
// generation to generation with them. Deletions are the generation's.
//
// Thread-safety: any thread; it locks by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../segment/segment.h"
#include "../vectors/vector_segment.h"

namespace gannet {

inline constexpr uint32_t kNoHome = 0xffffffffu;

// The document of each ordinal in a segment of words; kNoHome where it has none.
using HomesInSegment = std::vector<uint32_t>;

class VectorHomes {
 public:
  // Null where `words` has too few documents for it to be worth the memory: then they are looked up one by one.
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& words,
                                           const vectors::VectorSegment& segment);

 private:
  struct Entry {
    std::weak_ptr<const Segment> words;
    std::shared_ptr<const HomesInSegment> homes;
  };
  std::mutex mutex_;
  std::unordered_map<const Segment*, Entry> entries_;
};

}  // namespace gannet
