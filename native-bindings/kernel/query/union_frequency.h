// How many documents hold any of some terms: what the idf of a group of alternatives is made of. The sum of their
// document frequencies would count documents with several forms of a word several times (docs/decisions/0010).
//
// Thread-safety: pure functions of immutable data; answers are kept in the segments' caches where they take longer to work out.
#pragma once

#include <cstdint>
#include <span>

#include "prepared_query.h"

namespace gannet {

// Over all segments; of distinct terms of the query, whose lists are known.
uint64_t CountUnion(const PreparedQuery& query, std::span<const uint32_t> terms);

}  // namespace gannet
