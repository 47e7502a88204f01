// The values of the column by which the hits of a search are distinct (query/plan.h).
//
// Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

// A value: a key of a string column, or a number.
struct DistinctValue {
  std::string_view key;  // points into the segment
  double number = 0;

  bool operator==(const DistinctValue&) const = default;
};

struct DistinctValueHash {
  size_t operator()(const DistinctValue& value) const;
};

class DistinctColumn {
 public:
  // Throws Error(kInvalidArgument) if the segments do not have the column, or it is a location or many-valued. The
  // generation must outlive the object.
  DistinctColumn(const Generation& generation, uint32_t column);

  // Returns nothing if the document has no value, or several, which an older segment may have.
  std::optional<DistinctValue> ValueOf(uint32_t segment, uint32_t document) const;

 private:
  const Generation& generation_;
  uint32_t column_;
};

// Remembers, for some of the values seen last, the best hit so far: its index in the collector's buffer. Most matches
// that are behind another one with their value are told by it, before they fill the buffer.
//
// Thread-safety: one thread.
class RecentValues {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Returns where the index of the value's best hit is kept, kNone if it is not known; valid until the next call. Null if
  // the value is not kept. A key stands for its value by its address, so one of another segment is another value.
  uint32_t* Find(const DistinctValue& value);
  // To be called when hits have moved.
  void Forget() { ++epoch_; }

 private:
  struct Entry {
    uint64_t value = 0;
    uint32_t epoch = 0;
    uint32_t hit = kNone;
  };

  uint32_t epoch_ = 1;
  std::vector<Entry> entries_;
};

}  // namespace gannet
