// Scores unions window by window: MAXSCORE with the bounds of the window.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "../window/window.h"
#include "union_bounds.h"
#include "union_matcher.h"

namespace gannet {

class WindowUnion {
 public:
  static constexpr uint32_t kNoWindow = 0xffffffffu;

  // `groups` are in the order of scoring. Reads the window of the scratch and writes the result to it. With
  // `all_matches`, finds matches even if a bar rules them out. All arguments must outlive the object.
  WindowUnion(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
              const UnionBounds* bounds, bool all_matches, EvaluatorScratch* scratch);

  // Returns the next window >= `from` that may have matches; kNoWindow if there is none.
  uint32_t NextWindow(uint32_t from, float bar);

  // Finds and scores the matches of the scratch's window, whose matches and scores must be zero. Returns the mask of
  // the words of scores touched. Windows must ascend, and bars must not fall.
  uint64_t Evaluate(float bar);

 private:
  void Score(float bar);
  void ScoreAll();
  void MatchScored();
  void ScoreAbove(float bar);
  void AddLesserGroups(size_t first, float bar);

  const PreparedQuery* query_;
  uint32_t segment_;
  Window* window_;
  EvaluatorScratch* scratch_;
  std::span<GroupEvaluator* const> groups_;
  const UnionBounds& bounds_;
  bool all_matches_;
  std::optional<UnionMatcher> matcher_;  // if all matches are needed
  uint64_t score_words_ = 0;             // mask of the words touched in the window
  bool is_pruned_ = false;               // some documents of the last window were not scored
  uint32_t unbounded_windows_ = 0;       // so many further windows are scored whole, whatever their bounds
  bool is_whole_ = false;                // the lesser groups were scored for all documents of the last window
  size_t essential_;  // documents that match none of the groups before this one are below the last bar
};

}  // namespace gannet
