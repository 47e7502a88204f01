// Why each hit scored what it scored.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../collect/hit_collector.h"
#include "../query/prepared_query.h"
#include "../sources/source.h"

namespace gannet {

// JSON, an array with an object a hit: the words' share with its groups and bonus. Where there are `shares`, what they are told to score
// (`scores`, a row of as many for each hit) is in `sources`, and the score is their sum.
std::string ExplainHits(const PreparedQuery& query, const std::vector<Hit>& hits, std::span<const SourceShare> shares = {},
                        std::span<const SourceScore> scores = {});

}  // namespace gannet
