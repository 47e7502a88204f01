// What the groups of a union can still add to a score: the bounds that MAXSCORE (Turtle and Flood 1995) leaves out
// documents by.
//
// Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"

namespace gannet {

// Scores are sums of floats in another order than their bounds: what is compared with a bar allows for the rounding.
inline constexpr float kBarFactor = 1 - 1e-5f;

class UnionBounds {
 public:
  // `groups` in the order of scoring.
  UnionBounds(const PreparedQuery& query, std::span<GroupEvaluator* const> groups)
      : groups_(groups.size() + 1), bonuses_(groups.size() + 1) {
    for (size_t i = groups.size(); i-- > 0;) {
      groups_[i] = groups_[i + 1] + groups[i]->Bound();
      // Groups are those of the query in its order, less those that the segment has nothing of.
      const auto index = static_cast<uint32_t>(&groups[i]->group() - query.groups.data());
      bonuses_[i] = bonuses_[i + 1];
      for (const PreparedPair& pair : query.pairs) {
        if (std::min(pair.first, pair.second) == index) bonuses_[i] += query.BonusBound(pair);
      }
    }
  }

  // The most that the groups from the i-th on add to a score, and what bonus there is among them alone.
  float GroupsFrom(size_t i) const { return groups_[i]; }
  float BonusFrom(size_t i) const { return bonuses_[i]; }

  // How many groups are essential: what matches none of the first so many stays below the bar. It is known to be no
  // more than `most`.
  size_t Essential(size_t most, float bar) const {
    while (most > 0 && groups_[most - 1] + bonuses_[most - 1] < bar) --most;
    return most;
  }

 private:
  std::vector<float> groups_;
  std::vector<float> bonuses_;
};

}  // namespace gannet
