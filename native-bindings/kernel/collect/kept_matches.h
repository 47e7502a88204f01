// The matches of a search as sets of documents, one set per segment of the generation.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../generation/generation.h"
#include "../window/window.h"

namespace gannet {

class KeptMatches {
 public:
  KeptMatches() = default;
  // Parses what AppendTo wrote. Throws Error(kInvalidArgument) if it does not fit the generation.
  KeptMatches(const Generation& generation, std::span<const uint8_t> bytes);

  // Adds the matches of a window of a segment of the generation.
  void Add(const Generation& generation, uint32_t segment, const Window& window);

  // Returns one bit per document of the segment, in whole words; empty if it has no match.
  std::span<const uint64_t> Of(size_t segment) const {
    return segment < segments_.size() ? std::span<const uint64_t>(segments_[segment]) : std::span<const uint64_t>();
  }

  // Appends the sets in the form of a result (query/plan.h).
  void AppendTo(std::vector<uint8_t>* out) const;

 private:
  std::vector<std::vector<uint64_t>> segments_;
};

}  // namespace gannet
