// Looks up the documents with a text field that is the query, which were found when it was prepared
// (query/whole_field_finder.h).
//
// Thread-safety: functions of immutable data.
#pragma once

#include <span>

#include "../cursors/posting_cursor.h"
#include "../query/prepared_query.h"
#include "../window/window.h"

namespace gannet {

// Return true if one of these documents is in the window, and the first of them >= target (kNoDocument if there is
// none).
bool HasWholeField(const PreparedQuery& query, uint32_t segment, WindowRange range);
uint32_t NextWholeField(const PreparedQuery& query, uint32_t segment, uint32_t target);
// Returns those in the range.
std::span<const WholeFieldMatch> WholeFieldsIn(const PreparedQuery& query, uint32_t segment, WindowRange range);
// Adds those in the window to the bits.
void AddWholeFields(const PreparedQuery& query, uint32_t segment, WindowRange range, WindowBits* bits);

}  // namespace gannet
