// A generation as if its list had been made with some of its text fields alone (segment/narrowed_segment.h), for searches that look for
// words in these. It has no vectors.
//
// What is made of a segment outlasts the generation: after a write, nothing is made anew but for what it brought.
//
// Thread-safety: any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "generation.h"

namespace gannet {

// `fields` ascend strictly. Error(kInvalidArgument) where the generation lacks one.
std::shared_ptr<const Generation> NarrowGeneration(const Generation& whole, std::span<const uint32_t> fields);

}  // namespace gannet
