// Tests when hits that are distinct by a column are chosen anew; which ones are chosen, the property test compares.
#include "../kernel/collect/distinct_hits.h"

#include <string>
#include <vector>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kOfProducts{{1}, {{"product", ColumnType::kString, false}}};

// Returns how many further hits, each with a value of its own, are taken before the buffer has enough.
size_t HitsUntilEnough(DistinctHits* distinct, uint32_t first) {
  for (size_t count = 0;; ++count) {
    if (distinct->has_enough()) return count;
    Hit hit;
    hit.document = first + static_cast<uint32_t>(count);
    distinct->IsBehindItsValue(hit, hit.document, [](uint32_t) { return false; });
  }
}

}  // namespace

TEST(distinct_hits_are_chosen_anew_only_after_a_share_of_them_if_there_are_fewer_than_wanted) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < 3000; ++i) documents.push_back(DocumentWriter(i).String(0, "p" + std::to_string(i)));
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kOfProducts, documents), {}}}, {}, {}, "");
  constexpr uint32_t kWanted = 1000;
  DistinctHits distinct(*generation, 0, kWanted);
  CHECK_EQ(HitsUntilEnough(&distinct, 0), size_t{kWanted});
  // The last page: one value is missing to the bar, and may never come. Each choice looks at all hits, so that a choice
  // for every few further matches would cost their product.
  std::vector<Hit> left(kWanted - 1);
  for (uint32_t i = 0; i < left.size(); ++i) left[i].document = i;
  distinct.Moved(left);
  CHECK(HitsUntilEnough(&distinct, kWanted) >= kWanted / 4);
}

}  // namespace gannet::test
