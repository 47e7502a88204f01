#include "bar_seed.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "../common/stop.h"
#include "../cursors/posting_cursor.h"
#include "union_bounds.h"

namespace gannet {
namespace {

// A few blocks have the best postings; their impacts tell which.
constexpr size_t kBlocksMin = 8;
// Minimum number of postings that are examined, per wanted one.
constexpr size_t kPostingsPerWanted = 4;

// Returns a bound that `blocks` blocks of the list reach, and few more.
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

// Keeps the `wanted` best scores, and as many more that have not been discarded yet.
class BestDocuments {
 public:
  explicit BestDocuments(size_t wanted) : wanted_(wanted) { best_.reserve(2 * wanted + 1); }

  // Scores that are not above the bar need not be added.
  float bar() const { return bar_; }
  void Add(float score, uint32_t) {
    best_.push_back(score);
    if (best_.size() > 2 * wanted_) Keep();
  }
  // Returns the score of the last wanted one; 0 if there are fewer.
  float Least() {
    if (best_.size() < wanted_) return 0;
    Keep();
    return bar_;
  }

 private:
  void Keep() {
    const auto last = best_.begin() + static_cast<ptrdiff_t>(wanted_ - 1);
    std::nth_element(best_.begin(), last, best_.end(), std::greater<>());
    best_.resize(wanted_);
    bar_ = best_.back();
  }

  size_t wanted_;
  float bar_ = 0;
  std::vector<float> best_;
};

// The same for owners, each with its best document.
class BestOwners {
 public:
  BestOwners(size_t wanted, const OwnerOf* owner_of) : wanted_(wanted), owner_of_(*owner_of) { best_.reserve(4 * wanted + 1); }

  float bar() const { return bar_; }
  void Add(float score, uint32_t document) {
    const auto owner = owner_of_(document);
    if (!owner) return;
    best_.emplace_back(score, *owner);
    if (best_.size() > 4 * wanted_) Keep();
  }
  float Least() {
    Keep();
    return bar_;
  }

 private:
  void Keep() {
    std::ranges::sort(best_, std::ranges::greater{});
    size_t kept = 0;
    for (size_t i = 0; i < best_.size() && kept < wanted_; ++i) {
      const auto known = best_.begin() + static_cast<ptrdiff_t>(kept);
      if (std::find_if(best_.begin(), known, [&](const auto& each) { return each.second == best_[i].second; }) == known) best_[kept++] = best_[i];
    }
    best_.resize(kept);
    if (kept == wanted_) bar_ = best_.back().first;
  }

  size_t wanted_;
  const OwnerOf& owner_of_;
  float bar_ = 0;
  std::vector<std::pair<float, uint64_t>> best_;  // score and owner
};

template <typename Best>
float SeedBarOf(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted, Best best) {
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
            if (contributions[i] <= best.bar()) continue;
            if (view.deletions.deleted_count > 0 && view.deletions.Contains(cursor.documents()[i])) continue;
            best.Add(contributions[i], cursor.documents()[i]);
          }
        });
    // In a sum with other groups, the score may be rounded differently.
    return best.Least() * kBarFactor;
  }
  return 0;
}

}  // namespace

float SeedBar(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted) {
  return SeedBarOf(query, segment, groups, wanted, BestDocuments(wanted));
}

float SeedBar(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted, const OwnerOf& owner_of) {
  return SeedBarOf(query, segment, groups, wanted, BestOwners(wanted, &owner_of));
}

}  // namespace gannet
