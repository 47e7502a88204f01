// Plans answered on a generation: the kernel's one entry for searches.
//
// Thread-safety: any thread; what a search works with is the thread's own (ThreadScratch).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

// Answers the plan (query/plan.h) on the generation with a result (query/plan.h).
std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> plan);

// Record numbers of all matches of the plan's groups and filter, ascending; skip, size and sort are ignored.
std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> plan);

}  // namespace gannet
