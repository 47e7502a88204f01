// Which documents match any of some groups: sets of bits for many windows at a time, list by list.
//
// A list is run over once per span, however few of its postings lie in a window; so rare words cost by their postings,
// and not by the windows that these are in.
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
  // Windows of a span: its bits fit the first-level cache, and a mask of its windows one integer.
  static constexpr uint32_t kSpanWindows = 64;
  static constexpr uint32_t kSpanWords = kSpanWindows * kWindowWords;

  // `bits` is this object's alone while it lives; anything may be in it.
  UnionMatcher(std::span<GroupEvaluator* const> groups, uint32_t document_count, std::vector<uint64_t>* bits);

  // The next window >= from that has a match; the number of windows if there is none. Windows must ascend.
  uint32_t NextWindow(uint32_t from);

  // Makes the window's matches those of the union.
  void Match(Window* window);

  // How many documents match that are not deleted. Instead of the other methods.
  uint64_t Count(const DeletionSet& deletions);

 private:
  WindowRange RangeOf(uint32_t span) const;
  void Fill(uint32_t span);
  uint64_t Mark(WindowRange range, const GroupEvaluator* left_out);

  std::span<GroupEvaluator* const> groups_;
  uint32_t document_count_;
  uint32_t window_count_;
  std::vector<uint64_t>& bits_;  // of the span
  uint64_t windows_ = 0;         // those of the span that have bits
  uint32_t span_ = 0xffffffffu;
};

}  // namespace gannet
