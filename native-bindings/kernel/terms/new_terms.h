// Which terms a segment brings to a generation, and which go with some of its segments: for the vocabulary (generation/vocabulary.h).
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

// Those of the terms that only these segments of the generation have; nothing where they are more than kNewTermsMax, or not known.
std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources,
                                                      std::span<const std::string> terms);
// The same of all of their terms; nothing where these are more than kSoughtTermsMax.
std::optional<std::vector<std::string>> FindLostTerms(const Generation& generation, std::span<const MergeSource> sources);

}  // namespace gannet
