// Writes the result bytes of plan.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../collect/hit_collector.h"
#include "../generation/generation.h"
#include "../query/query_plan.h"

namespace gannet {

struct SearchResult {
  uint64_t total_count = 0;
  std::vector<Hit> hits;
  std::string facets;  // JSON, or empty
  std::string ranges;
  std::string explain;
};

// Error(kInvalidArgument) where the plan's distance column is not a location.
std::vector<uint8_t> WriteResult(const Generation& generation, const QueryPlan& plan, const SearchResult& result);

}  // namespace gannet
