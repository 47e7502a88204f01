// What the score of a document by its words is made of.
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

// The score, as the evaluator has it to the bit, the bonus included; 0 where the words do not find the document. Appends members of a JSON object, each after a comma:
// `,"maximum":…,"groups":[…]`, and `nearby` and `whole_field` where there is a bonus.
float ExplainWords(const PreparedQuery& query, DocumentOfSegment document, ProximityScorer* proximity, std::string* members);

}  // namespace gannet
