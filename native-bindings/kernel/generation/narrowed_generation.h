// A view of a generation with only some of its text fields (segment/narrowed_segment.h), for searches of these fields.
// It has no vectors.
//
// Views are kept with the generation, and those of segments with the segments: after a write, only the new segments need
// new ones.
//
// Thread-safety: any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "generation.h"

namespace gannet {

// `fields` must ascend strictly. Throws Error(kInvalidArgument) if the generation lacks one.
std::shared_ptr<const Generation> NarrowGeneration(const Generation& whole, std::span<const uint32_t> fields);

}  // namespace gannet
