// Writes the result bytes of plan.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../collect/hit_collector.h"
#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../sources/source.h"

namespace gannet {

struct SearchResult {
  uint64_t total_count = 0;
  std::vector<Hit> hits;
  std::string facets;  // JSON, or empty
  std::string ranges;
  std::string explain;
  std::vector<ScoreKind> kinds;      // of the sources; none where words are alone
  std::vector<SourceScore> scores;   // by hit, and by source
};

// Error(kInvalidArgument) where the plan's distance column is not a location.
std::vector<uint8_t> WriteResult(const Generation& generation, const QueryPlan& plan, const SearchResult& result);

}  // namespace gannet
