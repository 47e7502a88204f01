// Reads of a generation whose files may turn out to be unreadable while they go on.
#pragma once

#include <algorithm>
#include <exception>

#include "../kernel/common/error.h"
#include "registry.h"

namespace gannet::addon {

inline bool IsUnreadable(const PublishedGeneration& published) {
  const Generation& generation = *published.generation;
  return std::ranges::any_of(generation.segments, [](const SegmentView& view) { return view.segment->is_unreadable(); }) ||
         std::ranges::any_of(generation.vectors, [](const VectorView& view) { return view.segment->is_unreadable(); }) ||
         std::ranges::any_of(published.parts, [](const PublishedPart& part) { return IsUnreadable(*part.published); });
}

inline void RequireReadable(const PublishedGeneration& published) {
  if (FaultCount() != 0 && IsUnreadable(published)) {
    throw Error(ErrorCode::kUnreadable, "a segment cannot be read from the disk any more");
  }
}

// The same of one segment, of words or of vectors.
template <typename AnySegment>
void RequireReadableSegment(const AnySegment& segment) {
  if (FaultCount() != 0 && segment.is_unreadable()) {
    throw Error(ErrorCode::kUnreadable, "a segment cannot be read from the disk any more");
  }
}

// What `read` returns; Error(kUnreadable) where a file of the generation could not be read, now or before: zeros were read in its place,
// and whatever came of them, a result or an error, says nothing.
template <typename Read>
auto ReadWholly(const PublishedGeneration& published, Read read) {
  try {
    auto result = read();
    RequireReadable(published);
    return result;
  } catch (const std::exception&) {
    // Of zeros also comes what asks for too much memory.
    RequireReadable(published);
    throw;
  }
}

template <typename AnySegment, typename Read>
auto ReadSegmentWholly(const AnySegment& segment, Read read) {
  try {
    auto result = read();
    RequireReadableSegment(segment);
    return result;
  } catch (const std::exception&) {
    RequireReadableSegment(segment);
    throw;
  }
}

}  // namespace gannet::addon
