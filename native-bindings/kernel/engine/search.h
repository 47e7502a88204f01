// Plans answered on a generation: the kernel's one entry for searches.
//
// Thread-safety: any thread; what a search works with is the thread's own (ThreadScratch).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../generation/generation.h"
#include "../sources/meaning_source.h"
#include "../sources/source.h"

namespace gannet {

// What a search is made of besides the words of its plan. Without other sources the words' score is the hit's.
struct OtherSources {
  std::vector<SourceShare> shares;
  float words_weight = 1;  // beside them
  float words_floor = 0;
  float words_full = 1;  // 0: what the query's best record is expected to score
};

// Answers the plan (query/plan.h) on the generation with a result (query/plan.h). Documents are found by words or by any of the
// sources, less what the plan excludes; filter, facets, minimum score and order are the plan's.
std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> plan, const OtherSources& others = {});

// The same with what is near to a vector. Where the generation has no vectors, that is nothing.
std::vector<uint8_t> SearchWithMeaning(const Generation& generation, std::span<const uint8_t> plan, MeaningRequest meaning);

// Record numbers of all matches of the plan's groups and filter, ascending; skip, size and sort are ignored.
std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> plan);

}  // namespace gannet
