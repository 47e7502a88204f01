// The documents of a segment with a text field that is the query, word by word, and nothing else.
//
// Found once per segment and words, and kept in the segment's cache: few queries are the whole of a field, and those that
// are (names) are asked again.
//
// Thread-safety: functions of immutable data and of the segments' caches, which lock by themselves.
#pragma once

#include <span>
#include <vector>

#include "../segment/segment.h"
#include "prepared_query.h"
#include "window.h"

namespace gannet {

// By document, each once. `places` has for each word of the query the terms that may stand there (indexes into `terms`);
// neither it nor a place is empty.
WholeFieldMatches FindWholeFields(const Segment& segment, uint32_t segment_index, std::span<const PreparedTerm> terms,
                                  std::span<const std::vector<uint32_t>* const> places);

// Of the documents found: whether one is in the window, and the first from `target` on (kNoDocument without any).
bool HasWholeField(const PreparedQuery& query, uint32_t segment, WindowRange range);
uint32_t NextWholeField(const PreparedQuery& query, uint32_t segment, uint32_t target);
// Those of the range.
std::span<const WholeFieldMatch> WholeFieldsIn(const PreparedQuery& query, uint32_t segment, WindowRange range);
// Adds those of the window to the bits.
void AddWholeFields(const PreparedQuery& query, uint32_t segment, WindowRange range, WindowBits* bits);

}  // namespace gannet
