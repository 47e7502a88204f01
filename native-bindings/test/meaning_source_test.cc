// Compares searches by meaning alone, over segments with graphs, with a scan of all vectors, also after deletions and merges.
#include <cmath>

#include "../kernel/sources/live_ordinals.h"
#include "embedded_list.h"

namespace gannet::test {
namespace {

// Returns the recall over some queries. Checks that each hit is live, passes the filter, and has the right score.
double MeaningRecall(const EmbeddedList& list, double below, MeaningRequest request) {
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 1000;
  if (below < 100) {
    plan.filter.op = FilterOp::kLess;
    plan.filter.values.push_back({true, below, {}});
  }
  request.weight = 1;
  request.farthest = -1;  // Puts every vector above the floor.
  size_t found = 0, there = 0;
  for (uint32_t query = 5; query < 500; query += 17) {
    request.vector = list.vector(query);
    const auto all = list.Nearest(request.vector, below);
    const Result result = RunWithMeaning(list, plan, request);
    CHECK_EQ(result.total_count, static_cast<double>(result.hits.size()));
    CHECK(result.hits.size() <= request.wanted);
    std::map<uint32_t, float> cosines;
    for (const auto& [cosine, record] : all) cosines[record] = cosine;
    for (const ResultHit& hit : result.hits) {
      CHECK(cosines.contains(hit.record_number));
      CHECK(std::fabs((cosines[hit.record_number] + 1) / 2 - hit.score) < 1e-3);
    }
    const size_t wanted = std::min<size_t>(20, all.size());
    there += wanted;
    for (size_t i = 0; i < wanted; ++i) {
      found += std::ranges::any_of(result.hits, [&](const ResultHit& hit) { return hit.record_number == all[i].second; });
    }
  }
  return static_cast<double>(found) / static_cast<double>(there);
}

}  // namespace

TEST(meaning_finds_the_nearest_after_deletions_and_merges_and_with_filters) {
  EmbeddedList list(6000);
  MeaningRequest request;
  request.wanted = 30;
  request.width = 40;
  const auto check = [&] {
    CHECK(MeaningRecall(list, 100, request) >= 0.95);
    CHECK(MeaningRecall(list, 50, request) >= 0.95);
    CHECK(MeaningRecall(list, 1, request) >= 0.95);
    MeaningRequest exact = request;
    exact.exact = true;
    CHECK(MeaningRecall(list, 100, exact) >= 0.99);
  };
  check();
  list.DeleteRecords(EveryOf(6000, 3, 0));
  list.DeleteVectors(EveryOf(6000, 4, 1));
  check();
  list.MergeVectors();
  CHECK_EQ(list.generation().vectors.size(), 1u);
  check();
  list.DeleteRecords(EveryOf(6000, 6, 2));
  check();
}

// The width of a search depends on the share that passes. Records deleted both as documents and as vectors were once counted twice, so the share was too low.
TEST(meaning_counts_deleted_records_once) {
  EmbeddedList list(6000);
  const std::vector<uint32_t> records = EveryOf(6000, 5, 0);
  list.DeleteRecords(records);
  list.DeleteVectors(records);
  FilterNode below;
  below.op = FilterOp::kLess;
  below.values.push_back({true, 50, {}});
  const auto check = [&] {
    for (const VectorView& view : list.generation().vectors) {
      const LiveOrdinals live(&list.generation(), &view);
      uint32_t count = 0;
      for (uint32_t ordinal = 0; ordinal < view.segment->graph().count(); ++ordinal) count += live.Has(ordinal);
      CHECK_EQ(live.count(), count);
      LiveOrdinals cheap(&list.generation(), &view);
      cheap.Restrict(below);
      const uint32_t half = cheap.count();
      CHECK(half > count * 45 / 100 && half < count * 55 / 100);
    }
  };
  check();
  list.MergeVectors();
  check();
}

// A walk may meet a record's second nearest vector and miss the nearest. The record then scored less than with a scan of all vectors.
TEST(meaning_scores_a_record_by_its_best_vector_even_if_the_graph_met_another) {
  EmbeddedList list(3000, 12, 4);
  MeaningRequest request;
  request.wanted = 100;
  request.width = 64;
  const auto check = [&] {
    MeaningRecall(list, 100, request);
    MeaningRecall(list, 50, request);
  };
  check();
  list.DeleteVectors(EveryOf(3000, 3, 0));
  check();
  list.MergeVectors();
  check();
}

// Each segment is asked for a share of the wanted hits, and again if these were too few.
TEST(meaning_finds_the_nearest_in_whichever_segments_they_are) {
  for (const uint32_t heaps : {0u, 4u, 40u}) {
    EmbeddedList list(12000, heaps);
    CHECK_EQ(list.generation().vectors.size(), 2u);
    QueryPlan plan;
    plan.size = 200;
    MeaningRequest request;
    request.weight = 1;
    request.farthest = -1;
    request.wanted = request.width = 200;
    for (uint32_t query = 3; query < 12000; query += 600) {
      request.vector = list.vector(query);
      request.exact = true;
      const Result exact = RunWithMeaning(list, plan, request);
      request.exact = false;
      const Result found = RunWithMeaning(list, plan, request);
      std::set<uint32_t> records;
      for (const ResultHit& hit : exact.hits) records.insert(hit.record_number);
      size_t common = 0;
      for (const ResultHit& hit : found.hits) common += records.contains(hit.record_number);
      CHECK(common * 100 >= exact.hits.size() * 95);
    }
  }
}

}  // namespace gannet::test
