#include "bar_seed.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "../common/stop.h"
#include "../cursors/posting_cursor.h"
#include "union_bounds.h"

namespace gannet {
namespace {

// Few blocks have the best postings: their impacts say which.
constexpr size_t kBlocksMin = 8;
// So many times as many postings as are wanted are looked at, at least.
constexpr size_t kPostingsPerWanted = 4;

// The bound that so many blocks of the list reach, and few more.
float BoundOfBest(const PostingCursor& cursor, size_t blocks, const float* saturation) {
  std::vector<float> bounds(cursor.list().block_count());
  for (uint32_t block = 0; block < bounds.size(); ++block) {
    StopIfAsked();
    bounds[block] = cursor.ComputeBound(block, 1, saturation);
  }
  const auto last = bounds.begin() + static_cast<ptrdiff_t>(blocks - 1);
  std::nth_element(bounds.begin(), last, bounds.end(), std::greater<>());
  return *last;
}

}  // namespace

float SeedBar(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted) {
  const SegmentView& view = query.generation->segments[segment];
  const float* saturation = query.saturation.data();
  for (const GroupEvaluator* group : groups) {
    const PostingList* list = group->plain_term();
    if (list == nullptr || list->document_frequency() < wanted) continue;
    PostingCursor cursor;
    cursor.Reset(list);
    const size_t blocks = std::max(kBlocksMin, (kPostingsPerWanted * wanted + kBlockSize - 1) / kBlockSize);
    const float least = list->block_count() <= blocks ? 0 : BoundOfBest(cursor, blocks, saturation);
    const TermScoring scoring{view.segment->norms().data(), saturation, group->group().weight};
    // The `wanted` best, and as many more, that have not been sorted out yet.
    std::vector<float> best;
    best.reserve(2 * wanted + 1);
    float bar = 0;
    const auto keep_best = [&] {
      const auto last = best.begin() + static_cast<ptrdiff_t>(wanted - 1);
      std::nth_element(best.begin(), last, best.end(), std::greater<>());
      best.resize(wanted);
      bar = best.back();
    };
    size_t taken = 0;
    cursor.ForEachRun(
        {0, view.segment->document_count()},
        [&](uint32_t block) {
          const bool takes = taken < blocks && (least == 0 || cursor.ComputeBound(block, 1, saturation) >= least);
          taken += takes;
          return takes;
        },
        [&](uint32_t begin, uint32_t end) {
          const float* contributions = cursor.contributions(scoring);
          for (uint32_t i = begin; i < end; ++i) {
            if (contributions[i] <= bar) continue;
            if (view.deletions.deleted_count > 0 && view.deletions.Contains(cursor.documents()[i])) continue;
            best.push_back(contributions[i]);
            if (best.size() > 2 * wanted) keep_best();
          }
        });
    if (best.size() < wanted) return 0;
    keep_best();
    // In a sum with others it may have been rounded on other ways.
    return bar * kBarFactor;
  }
  return 0;
}

}  // namespace gannet
