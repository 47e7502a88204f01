// Looks up what begins like a text in the dictionary of a string column, such as the names of the records.
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
  kWord = 1,   // a word in it does
  kTypo = 2,   // the value begins with the text but for some edits
};

struct NameMatch {
  std::string display;
  NameMatchKind kind = NameMatchKind::kStart;
  uint32_t distance = 0;  // edits of a kTypo
  std::string key;
  // Values that differ in their case alone have one key, and a segment one display of it: documents with this key may have
  // another. False where each document of the segment has a key of its own.
  bool is_shared = false;

  bool operator==(const NameMatch&) const = default;
};

// Bounds on what one call reads of all segments: of keys for words inside values, and of values for typos (those with a
// beginning from which the text cannot be reached are passed over).
inline constexpr uint64_t kNameBytesScannedMax = uint64_t{16} << 20;
inline constexpr uint32_t kNamesVisitedMax = 65536;

// The first `limit` values of the column with this name. Without `edits`: those that begin with `prefix` (a folded key),
// then those with a word that does. With `edits`: those that have its first letter and begin with it but for 1 to so
// many edits, the nearest first. In the order of their keys. Values of deleted documents are included until a merge drops
// them.
std::vector<NameMatch> FindNames(const Generation& generation, std::string_view column, std::string_view prefix,
                                 uint32_t edits, size_t limit);

}  // namespace gannet
