// Finds the documents that match any of several groups, as bit sets, for many windows at a time, list by list.
//
// A list is walked once per span, however few of its postings each window has. So the cost of a rare word depends on
// its postings and not on the number of windows that they are in.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../generation/generation.h"
#include "../match/group_evaluator.h"
#include "../window/window.h"

namespace gannet {

class UnionMatcher {
 public:
  // Windows per span: the bits fit into the first-level cache, and a mask of the windows into one integer.
  static constexpr uint32_t kSpanWindows = 64;
  static constexpr uint32_t kSpanWords = kSpanWindows * kWindowWords;

  // `bits` belongs to this object while it lives; its content does not matter.
  UnionMatcher(std::span<GroupEvaluator* const> groups, uint32_t document_count, std::vector<uint64_t>* bits);

  // Returns the next window >= `from` that has a match; the number of windows if there is none. Windows must ascend.
  uint32_t NextWindow(uint32_t from);

  // Sets the window's matches to those of the union.
  void Match(Window* window);

  // Returns the number of matching documents that are not deleted. Must not be mixed with the other methods.
  uint64_t Count(const DeletionSet& deletions);

 private:
  WindowRange RangeOf(uint32_t span) const;
  void Fill(uint32_t span);
  uint64_t Mark(WindowRange range, const GroupEvaluator* left_out);

  std::span<GroupEvaluator* const> groups_;
  uint32_t document_count_;
  uint32_t window_count_;
  std::vector<uint64_t>& bits_;  // of the span
  uint64_t windows_ = 0;         // mask of the windows of the span that have bits
  uint32_t span_ = 0xffffffffu;
};

}  // namespace gannet
