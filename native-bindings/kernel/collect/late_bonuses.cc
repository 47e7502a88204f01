#include "late_bonuses.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "../common/stop.h"

namespace gannet {
namespace {

// Number of best hits whose bonuses are computed at a time, before the remaining candidates are checked again.
constexpr size_t kBonusesAtOnce = 32;

// Adds bonuses; hits that stay below `bar` may get less than theirs.
void AddBonuses(ProximityScorer* proximity, float bar, std::span<uint32_t> indexes, std::vector<Hit>* hits) {
  // Cursors only move forward.
  std::sort(indexes.begin(), indexes.end(), [&](uint32_t a, uint32_t b) {
    return std::pair((*hits)[a].segment, (*hits)[a].document) < std::pair((*hits)[b].segment, (*hits)[b].document);
  });
  for (const uint32_t index : indexes) {
    StopIfAsked();
    Hit& hit = (*hits)[index];
    hit.score += proximity->Bonus(hit.segment, hit.document, bar - hit.score);
    hit.has_bonus = true;
  }
}

}  // namespace

float AddLateBonuses(ProximityScorer* proximity, size_t wanted, float bar, std::vector<Hit>* hits) {
  std::vector<uint32_t> order;
  std::vector<float> best;  // scores with bonus: a min-heap of the `wanted` greatest
  const auto keep = [&](float score) {
    best.push_back(score);
    std::push_heap(best.begin(), best.end(), std::greater<>());
    if (best.size() <= wanted) return;
    std::pop_heap(best.begin(), best.end(), std::greater<>());
    best.pop_back();
  };
  for (uint32_t i = 0; i < hits->size(); ++i) {
    if ((*hits)[i].has_bonus) {
      keep((*hits)[i].score);
    } else {
      order.push_back(i);
    }
  }
  // The best hits without a bonus get theirs first: the scores that they reach tell which of the others may still be
  // among the best.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return (*hits)[a].score > (*hits)[b].score; });
  std::vector<uint32_t> chunk;
  size_t next = 0;
  while (next < order.size()) {
    if (best.size() == wanted) bar = std::max(bar, best.front());
    const size_t chunk_max = best.size() < wanted ? wanted - best.size() : kBonusesAtOnce;
    chunk.clear();
    for (; next < order.size() && chunk.size() < chunk_max; ++next) {
      const Hit& hit = (*hits)[order[next]];
      if (hit.score + proximity->bound() < bar) next = order.size() - 1;  // Nor has any hit after it.
      if (hit.score + hit.bonus_bound >= bar) chunk.push_back(order[next]);
    }
    AddBonuses(proximity, bar, chunk, hits);
    for (const uint32_t index : chunk) keep((*hits)[index].score);
  }
  if (best.size() == wanted) bar = std::max(bar, best.front());
  std::erase_if(*hits, [&](const Hit& hit) { return !hit.has_bonus || hit.score < bar; });
  return bar;
}

}  // namespace gannet
