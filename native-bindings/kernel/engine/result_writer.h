// Writes search results in the format that query/plan.h describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../collect/hit_collector.h"
#include "../collect/kept_matches.h"
#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../sources/source.h"

namespace gannet {

struct SearchResult {
  uint64_t total_count = 0;
  std::vector<Hit> hits;
  std::string facets;  // JSON; empty if there are none
  std::string ranges;
  std::string explain;
  std::vector<ScoreKind> kinds;      // of the sources; empty if only words were searched
  std::vector<SourceScore> scores;   // one row per hit, one score per source
  KeptMatches matches;               // empty unless the plan asks for them
};

// Throws Error(kInvalidArgument) if the plan's distance column is not a location.
std::vector<uint8_t> WriteResult(const Generation& generation, const QueryPlan& plan, const SearchResult& result);

}  // namespace gannet
