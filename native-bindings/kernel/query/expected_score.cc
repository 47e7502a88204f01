#include "expected_score.h"

#include <algorithm>
#include <cmath>

namespace gannet {
namespace {

// Fitted to the best sums of the queries of five collections: ln(sum) = base + words * ln(number of effective words) +
// reach * ln(maximum).
constexpr double kBase = 0.4480;
constexpr double kWords = 0.2732;
constexpr double kReach = 0.4176;

}  // namespace

float ExpectedScore(const PreparedQuery& query) {
  double sum = 0;
  double squares = 0;
  for (const PreparedGroup& group : query.groups) {
    if (!group.scores() || group.bound <= 0) continue;
    const double value = group.boost * group.idf;
    sum += value;
    squares += value * value;
  }
  if (squares <= 0 || query.maximum <= 0) return 1;
  // Effective number of words: so many words of equal weight would be worth as much. One rare word among common ones
  // hardly counts as more than one.
  const double words = sum * sum / squares;
  const double best = std::exp(kBase + kWords * std::log(words) + kReach * std::log(query.maximum));
  return static_cast<float>(std::clamp(best / query.maximum, 0.01, 1.0));
}

}  // namespace gannet
