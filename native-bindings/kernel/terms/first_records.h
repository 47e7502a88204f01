// Finds a few records that have a term, without looking at the others: for what any of them can tell.
//
// Thread-safety: a pure function of immutable data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

// Maximum number of records per call.
inline constexpr size_t kFirstRecordsMax = 64;

// Returns record numbers of live records with the term, ascending: of the first `limit` <= kFirstRecordsMax such
// documents of each segment, the `limit` least. Fewer are all there are. The time does not depend on how many records
// have the term, but for deleted ones among the first.
std::vector<uint32_t> FirstRecords(const Generation& generation, std::string_view term, size_t limit);

}  // namespace gannet
