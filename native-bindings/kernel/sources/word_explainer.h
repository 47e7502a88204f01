// Explains what the score of a document by its words is made of.
//
// Thread-safety: functions of immutable data and of the thread's own scorer.
#pragma once

#include <cstdint>
#include <string>

#include "../bonus/proximity_scorer.h"
#include "../query/prepared_query.h"

namespace gannet {

struct DocumentOfSegment {
  uint32_t segment;
  uint32_t document;
};

// Returns the score, as the evaluator computes it to the bit, with the bonus; 0 if the words do not find the document.
// Appends members of a JSON object, each after a comma: `,"maximum":…,"groups":[…]`, and `nearby` and `whole_field` if
// there is a bonus.
float ExplainWords(const PreparedQuery& query, DocumentOfSegment document, ProximityScorer* proximity, std::string* members);

}  // namespace gannet
