// Finds which terms a segment adds to a generation, and which disappear with some of its segments, for the vocabulary
// (generation/vocabulary.h).
//
// Terms are keys as segments store them. Thread-safety: pure functions of immutable data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"
#include "../segment/segment_builder.h"

namespace gannet {

// Segments with more terms are not examined: nearly all of them add many.
inline constexpr uint64_t kSoughtTermsMax = 4096;

// Returns the segment's terms that no segment of the generation has, in byte order; nothing if there are more than
// kNewTermsMax, or if they were not searched for.
std::optional<std::vector<std::string>> FindNewTerms(const Generation& generation, const Segment& segment);

// Returns those of `terms` that only these segments of the generation have; nothing if there are more than
// kNewTermsMax, or if they are not known.
std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources,
                                                      std::span<const std::string> terms);
// The same for all terms of the segments; nothing if these have more than kSoughtTermsMax.
std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources);

}  // namespace gannet
