// Why a hit scores what it scores.
#pragma once

#include <string>

#include "../collect/hit_collector.h"
#include "../query/prepared_query.h"

namespace gannet {

// One object per hit: {"score","maximum","groups":[{"idf","boost","contribution","terms":[{"term","weight",
// "frequency","document_frequency"}]}],"nearby":[{"terms","idf","contribution"}]}, the groups that match in the plan's
// order. `nearby` has the pairs of words that earn the document a proximity bonus, the first term of each naming its
// group, and is left out where none does. The contributions add up to the score; `maximum` is the sum before division
// that a score of 1 stands for. The words of a phrase are joined by blanks.
std::string ExplainHits(const PreparedQuery& query, const std::vector<Hit>& hits);

}  // namespace gannet
