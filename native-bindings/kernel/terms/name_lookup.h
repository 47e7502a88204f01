// Looks up values that begin with a text in the dictionary of a string column, such as the names of the records.
//
// Thread-safety: pure functions of immutable data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

enum class NameMatchKind : uint8_t {
  kStart = 0,  // the value begins with the text
  kWord = 1,   // a word in the value begins with the text
  kTypo = 2,   // the value begins with the text except for some edits
};

struct NameMatch {
  std::string display;
  NameMatchKind kind = NameMatchKind::kStart;
  uint32_t distance = 0;  // number of edits of a kTypo
  std::string key;
  // True if documents with this key may have another display: values that differ only in case share one key, and a
  // segment keeps one display per key. False if each document of the segment has a key of its own.
  bool is_shared = false;

  bool operator==(const NameMatch&) const = default;
};

// Limits of what one call reads in all segments: bytes of keys for words inside values, and values for typos (values
// with a beginning from which the text cannot be reached are skipped).
inline constexpr uint64_t kNameBytesScannedMax = uint64_t{16} << 20;
inline constexpr uint32_t kNamesVisitedMax = 65536;

// Returns the first `limit` values of the column with this name. Without `edits`: those that begin with `prefix` (a
// folded key), then those that have a word beginning with it. With `edits`: those that have its first letter and begin
// with it except for 1 to `edits` edits, nearest first. Otherwise in the order of their keys. Values of deleted
// documents are included until a merge drops them.
std::vector<NameMatch> FindNames(const Generation& generation, std::string_view column, std::string_view prefix,
                                 uint32_t edits, size_t limit);

}  // namespace gannet
