// Which terms a segment brings to a generation, and whether a merge takes some from it: for the vocabulary (generation/vocabulary.h).
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

// Of segments with more terms it is not looked at: nearly all of them bring many.
inline constexpr uint64_t kSoughtTermsMax = 4096;

// The segment's terms that no segment of the generation has, in byte order; nothing where they are more than kNewTermsMax, or were not
// looked for.
std::optional<std::vector<std::string>> FindNewTerms(const Generation& generation, const Segment& segment);

// True where a segment of the generation other than these has each of the terms.
bool HasElsewhere(const Generation& generation, std::span<const MergeSource> besides, std::span<const std::string> terms);

}  // namespace gannet
