// Counts the documents that have any of several terms, from which a group's idf is computed. The sum of the terms'
// document frequencies would count a document with several forms of a word several times (docs/decisions/0010).
//
// Thread-safety: pure functions of immutable data; answers that take longer to compute are cached with the segments.
#pragma once

#include <cstdint>
#include <span>

#include "prepared_query.h"

namespace gannet {

// Returns the count over all segments. `terms` are distinct terms of the query, whose lists are known.
uint64_t CountUnion(const PreparedQuery& query, std::span<const uint32_t> terms);

}  // namespace gannet
