// Estimates what the best record of a query would score by its words in a list that has good matches for it. If the
// words are summed with other sources, this score counts as full.
//
// The estimate depends on the words alone and is made before anything is searched, so it is the same on every page and
// behind every filter. For a query of many words it is more than any record has, so the best record stays farther below
// 1.
//
// Thread-safety: pure.
#pragma once

#include "prepared_query.h"

namespace gannet {

// Returns a score above 0, at most 1; 1 if nothing scores.
float ExpectedScore(const PreparedQuery& query);

}  // namespace gannet
