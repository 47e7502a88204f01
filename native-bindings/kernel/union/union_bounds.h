// Bounds of what the groups of a union can still add to a score, by which MAXSCORE (Turtle and Flood 1995) leaves out
// documents.
//
// Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"

namespace gannet {

// Allows for rounding when a score is compared with a bound: they are sums of floats in different orders.
inline constexpr float kBarFactor = 1 - 1e-5f;

class UnionBounds {
 public:
  // `groups` are in the order of scoring.
  UnionBounds(const PreparedQuery& query, std::span<GroupEvaluator* const> groups)
      : groups_(groups.size() + 1), bonuses_(groups.size() + 1) {
    for (size_t i = groups.size(); i-- > 0;) {
      groups_[i] = groups_[i + 1] + groups[i]->Bound();
      // The groups are those of the query in its order, without those that have nothing in the segment.
      const auto index = static_cast<uint32_t>(&groups[i]->group() - query.groups.data());
      bonuses_[i] = bonuses_[i + 1];
      for (const PreparedPair& pair : query.pairs) {
        if (std::min(pair.first, pair.second) == index) bonuses_[i] += query.BonusBound(pair);
      }
    }
  }

  // Return the most that the groups from the i-th on add to a score, and the bonus that they can have among themselves.
  float GroupsFrom(size_t i) const { return groups_[i]; }
  float BonusFrom(size_t i) const { return bonuses_[i]; }

  // Returns the number of essential groups: a document that matches none of the first so many groups stays below the
  // bar. The caller knows that it is at most `most`.
  size_t Essential(size_t most, float bar) const {
    while (most > 0 && groups_[most - 1] + bonuses_[most - 1] < bar) --most;
    return most;
  }

 private:
  std::vector<float> groups_;
  std::vector<float> bonuses_;
};

}  // namespace gannet
