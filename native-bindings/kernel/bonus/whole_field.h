// The documents with a text field that is the query, as they were found when it was prepared (query/whole_field_finder.h).
//
// Thread-safety: functions of immutable data.
#pragma once

#include <span>

#include "../cursors/posting_cursor.h"
#include "../query/prepared_query.h"
#include "../window/window.h"

namespace gannet {

// Of the documents found: whether one is in the window, and the first from `target` on (kNoDocument without any).
bool HasWholeField(const PreparedQuery& query, uint32_t segment, WindowRange range);
uint32_t NextWholeField(const PreparedQuery& query, uint32_t segment, uint32_t target);
// Those of the range.
std::span<const WholeFieldMatch> WholeFieldsIn(const PreparedQuery& query, uint32_t segment, WindowRange range);
// Adds those of the window to the bits.
void AddWholeFields(const PreparedQuery& query, uint32_t segment, WindowRange range, WindowBits* bits);

}  // namespace gannet
