// Why a hit scores what it scores.
#pragma once

#include <string>

#include "../topk/prepared_query.h"
#include "hit_collector.h"

namespace gannet {

// One object per hit: {"score","maximum","groups":[{"idf","boost","contribution","terms":[{"term","weight",
// "frequency","document_frequency"}]}]}, the groups that match in the plan's order. The contributions add up to the
// score; `maximum` is the sum of boost * idf * saturated frequency that a score of 1 stands for. The words of a
// phrase are joined by blanks.
std::string ExplainHits(const PreparedQuery& query, const std::vector<Hit>& hits);

}  // namespace gannet
