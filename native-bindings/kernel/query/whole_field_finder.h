// Finds the documents of a segment with a text field that is the query, word by word, and nothing else.
//
// A result that costs more than a look-up is kept in the segment's cache: few queries are a whole field, and those that
// are (names) are asked again.
//
// Thread-safety: functions of immutable data and of the segments' caches, which lock internally.
#pragma once

#include <span>
#include <vector>

#include "../segment/segment.h"
#include "prepared_query.h"

namespace gannet {

// Returns each document once, ascending. `places` has, for each word of the query, the terms that may stand there
// (indexes into `terms`); neither `places` nor any of its elements may be empty.
WholeFieldMatches FindWholeFields(const Segment& segment, uint32_t segment_index, std::span<const PreparedTerm> terms,
                                  std::span<const std::vector<uint32_t>* const> places);

}  // namespace gannet
