// Explains the score of each hit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../collect/hit_collector.h"
#include "../query/prepared_query.h"
#include "../sources/source.h"

namespace gannet {

// Returns a JSON array with one object per hit: the score of the words, with their groups and bonus. If `shares` is not
// empty, the reported score of each source (`scores`, one row of shares.size() per hit) is in `sources`, and the score
// is the sum over all sources.
std::string ExplainHits(const PreparedQuery& query, const std::vector<Hit>& hits, std::span<const SourceShare> shares = {},
                        std::span<const SourceScore> scores = {});

}  // namespace gannet
