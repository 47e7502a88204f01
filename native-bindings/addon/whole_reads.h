// Reads a generation or a segment whose files may become unreadable meanwhile.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

#include "../kernel/common/error.h"
#include "registry.h"

namespace gannet::addon {

inline bool IsUnreadable(const PublishedGeneration& published) {
  const Generation& generation = *published.generation;
  return std::ranges::any_of(generation.segments, [](const SegmentView& view) { return view.segment->is_unreadable(); }) ||
         std::ranges::any_of(generation.vectors, [](const VectorView& view) { return view.segment->is_unreadable(); }) ||
         std::ranges::any_of(published.parts, [](const PublishedPart& part) { return IsUnreadable(*part.published); });
}

inline bool IsUnreadable(const Segment& segment) { return segment.is_unreadable(); }
inline bool IsUnreadable(const vectors::VectorSegment& segment) { return segment.is_unreadable(); }

inline bool IsUnreadable(const std::vector<std::shared_ptr<const PublishedGeneration>>& several) {
  return std::ranges::any_of(several, [](const auto& published) { return IsUnreadable(*published); });
}

// `Source` is one generation or several, or a segment of words or of vectors.
template <typename Source>
void RequireReadable(const Source& source) {
  if (FaultCount() != 0 && IsUnreadable(source)) {
    throw Error(ErrorCode::kUnreadable, "a segment cannot be read from the disk any more");
  }
}

// Returns the result of `read`. Throws Error(kUnreadable) if a file of the source could not be read, now or earlier:
// zeros were read instead, so that a result or an error based on them means nothing.
template <typename Source, typename Read>
auto ReadWholly(const Source& source, Read read) {
  try {
    auto result = read();
    RequireReadable(source);
    return result;
  } catch (const std::exception&) {
    // Zeros may also lead to a request for too much memory.
    RequireReadable(source);
    throw;
  }
}

}  // namespace gannet::addon
