// What the best record of a query is expected to score by its words, in a list that has something to say about it: what counts as a full score
// where words are summed with something else.
//
// Of the words alone, before anything is searched, so that it is the same on every page and behind every filter. A query of many
// words asks for more than any record has, so its best one stays farther below 1.
//
// Thread-safety: pure.
#pragma once

#include "prepared_query.h"

namespace gannet {

// Above 0, at most 1; 1 where nothing scores.
float ExpectedScore(const PreparedQuery& query);

}  // namespace gannet
