// Finds the documents of a segment that the text finds (words and what is summed with them) or that a part of the
// record does. A document scores the greatest of these scores.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "combined_matches.h"
#include "source.h"

namespace gannet {

class StrongestMatches {
 public:
  // `text` is summed, using what is `known` of it (CombinedMatches), and documents below `text_floor` are not found by
  // it. Each of `parts`, which apply their floors themselves, stands for itself. `all_matches`: find documents even if
  // a bar rules them out.
  StrongestMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> text,
                   const KnownMatches& known, float text_floor, std::span<const SourceShare> parts, bool all_matches);

  uint32_t window_count() const { return text_.window_count(); }

  // As those of CombinedMatches.
  uint32_t NextWindow(uint32_t from, float bar);
  Window* Evaluate(uint32_t window, float bar);
  // Removes from the last evaluated window the documents that are only counted and have no score.
  void KeepScored(Window* window) const;

 private:
  struct Part {
    SourceShare share;
    std::unique_ptr<SegmentSource> source;
    float bound;  // of what it counts in the segment
  };

  float TextBar(float bar) const;
  float LeastOf(const Part& part, float bar) const;
  bool MayReach(const Part& part, float bar) const { return all_matches_ || part.bound >= bar; }
  void Take(const Part& part, Window* found, Window* window) const;
  void AddCounted(Window* window);

  uint32_t document_count_;
  bool all_matches_;
  float text_floor_;
  CombinedMatches text_;
  std::vector<Part> parts_;
  WindowBits counted_;  // of the last evaluated window; includes those that have a score
  WindowBits scored_;
};

}  // namespace gannet
