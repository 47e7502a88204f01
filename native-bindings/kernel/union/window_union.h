// Unions that are scored, window by window: MAXSCORE with the bounds of the window.
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

  // `groups` in the order of scoring. Windows are those of the scratch; what is found of them is put there. With `all_matches`,
  // those that a bar rules out are found, too. All arguments outlive the object.
  WindowUnion(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
              const UnionBounds* bounds, bool all_matches, EvaluatorScratch* scratch);

  // The next window >= from that may have matches; kNoWindow if none.
  uint32_t NextWindow(uint32_t from, float bar);

  // Finds the matches of the scratch's window, whose matches and scores are all zero before, and scores them. Returns the words
  // of scores touched. Windows must ascend, and bars not fall.
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
  std::optional<UnionMatcher> matcher_;  // where all matches are needed
  uint64_t score_words_ = 0;             // touched in the window
  bool is_pruned_ = false;               // in the last window, some documents were not scored
  uint32_t unbounded_windows_ = 0;       // so many windows to come are scored whole, whatever their bounds
  bool is_whole_ = false;                // in the last window, the lesser groups were scored for all documents
  size_t essential_;  // documents that match none of the groups before this one are below the last bar
};

}  // namespace gannet
