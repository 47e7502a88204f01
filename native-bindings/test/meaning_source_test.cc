// Meaning as a source of scores, over segments with graphs: against a comparison of all vectors one by one, through deletions and merges.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "../kernel/engine/search.h"
#include "../kernel/sources/live_ordinals.h"
#include "../kernel/vectors/vector_writer.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

using vectors::Normalize;

constexpr uint32_t kMeaningDimensions = 24;
const SegmentSchema kMeaningSchema{{1}, {{"price", ColumnType::kNumber, false}, {"brand", ColumnType::kString, false}}};
constexpr uint16_t kPriceColumn = 0, kBrandColumn = 1;
constexpr uint32_t kBrands = 4;

std::string BrandOf(uint32_t record) { return "brand" + std::to_string(record / 3 % kBrands); }

// Records with a vector each, some with two but for stretches of hundreds where none has; words in two segments, vectors in two others that do not begin where those do.
class Embedded {
 public:
  // `heaps`: centres that vectors lie around, those of neighbouring records around the same one; 0: a centre for each 20, by chance.
  // `passages`: vectors of each record, the fewest.
  explicit Embedded(uint32_t count, uint32_t heaps = 0, uint32_t passages = 1) : count_(count) {
    std::normal_distribution<float> normal;
    std::vector<float> centres(size_t{heaps == 0 ? count / 20 : heaps} * kMeaningDimensions);
    for (float& value : centres) value = normal(random_);
    for (uint32_t record = 0; record < count; ++record) {
      for (uint32_t passage = 0; passage < passages + (record % 7 == 0 && record / 300 % 2 == 0); ++passage) {
        const size_t centre = (heaps == 0 ? random_() % (count / 20) : record * size_t{heaps} / count) * kMeaningDimensions;
        std::vector<float> vector(kMeaningDimensions);
        for (uint32_t i = 0; i < kMeaningDimensions; ++i) vector[i] = centres[centre + i] + 0.4f * normal(random_);
        CHECK(Normalize(vector));
        vectors_[record].push_back(vector);
      }
    }
    std::vector<SegmentView> words{{BuildWords(0, count / 3), {}}, {BuildWords(count / 3, count), {}}};
    const VectorChange change{{{BuildVectors(0, count / 2)}, {BuildVectors(count / 2, count)}}};
    generation_ = DeriveGeneration(nullptr, words, {}, {}, "", change);
  }

  const Generation& generation() const { return *generation_; }
  const std::vector<float>& vector(uint32_t record) const { return vectors_.at(record).front(); }

  void DeleteRecords(const std::vector<uint32_t>& records) {
    dead_.insert(records.begin(), records.end());
    std::vector<SegmentDeletions> deletions;
    for (const SegmentView& view : generation_->segments) {
      deletions.push_back({view.segment, {}});
      for (const uint32_t record : records) {
        if (const auto document = view.segment->FindDocument(record)) deletions.back().documents.push_back(*document);
      }
    }
    generation_ = DeriveGeneration(generation_.get(), {}, {}, deletions, "");
  }

  void DeleteVectors(const std::vector<uint32_t>& records) {
    dead_.insert(records.begin(), records.end());
    VectorChange change;
    for (const VectorView& view : generation_->vectors) change.deletions.push_back({view.segment, records});
    generation_ = DeriveGeneration(generation_.get(), {}, {}, {}, "", change);
  }

  void MergeVectors() {
    std::vector<vectors::VectorMergeSource> sources;
    VectorChange change;
    for (const VectorView& view : generation_->vectors) {
      sources.push_back({view.segment, FindDeadVectors(*generation_, view)});
      change.removed.push_back(view.segment);
    }
    const std::string path = FreshFile();
    vectors::MergeVectors(path, sources);
    vectors::CheckVectorFile(path);
    change.added.push_back({vectors::VectorSegment::Open(path)});
    generation_ = DeriveGeneration(generation_.get(), {}, {}, {}, "", change);
  }

  // Live records below a price by their best cosine, the nearest first.
  std::vector<std::pair<float, uint32_t>> Nearest(std::span<const float> query, double below) const {
    std::vector<std::pair<float, uint32_t>> all;
    for (uint32_t record = 0; record < count_; ++record) {
      if (dead_.contains(record) || record % 100 >= below) continue;
      float best = -1;
      for (const std::vector<float>& each : vectors_.at(record)) best = std::max(best, vectors::Product(each, query));
      all.emplace_back(best, record);
    }
    std::ranges::sort(all, std::greater());
    return all;
  }

 private:
  std::string FreshFile() { return folder_.path() / ("vectors-" + std::to_string(files_++) + ".gvs"); }

  std::shared_ptr<const Segment> BuildWords(uint32_t begin, uint32_t end) {
    std::vector<DocumentWriter> documents;
    for (uint32_t record = begin; record < end; ++record) {
      // Words score many things.
      std::string text = record % 3 == 0 ? "sea moss" : "moss";
      for (uint32_t more = record * 7 % 11; more > 0; --more) text += more % 2 == 0 ? " moss" : " stone";
      documents.push_back(DocumentWriter(record).Text(0, text).Number(kPriceColumn, record % 100)
                              .String(kBrandColumn, BrandOf(record)));
    }
    return folder_.Build(kMeaningSchema, documents);
  }

  std::shared_ptr<const vectors::VectorSegment> BuildVectors(uint32_t begin, uint32_t end) {
    vectors::VectorRows rows;
    rows.dimensions = kMeaningDimensions;
    std::vector<float> values;
    std::vector<uint32_t> records, passages;
    for (uint32_t record = begin; record < end; ++record) {
      for (uint32_t passage = 0; passage < vectors_[record].size(); ++passage) {
        values.insert(values.end(), vectors_[record][passage].begin(), vectors_[record][passage].end());
        records.push_back(record);
        passages.push_back(passage);
      }
    }
    rows.vectors = values;
    rows.records = records;
    rows.passages = passages;
    const std::string path = FreshFile();
    vectors::BuildVectors(path, rows, {.nodes_min = 1000});
    vectors::CheckVectorFile(path);
    return vectors::VectorSegment::Open(path);
  }

  const uint32_t count_;
  std::mt19937 random_{11};
  TemporaryFolder folder_;
  uint32_t files_ = 0;
  std::map<uint32_t, std::vector<std::vector<float>>> vectors_;  // by record
  std::set<uint32_t> dead_;
  std::shared_ptr<const Generation> generation_;
};

Result RunWithMeaning(const Embedded& list, const QueryPlan& plan, MeaningRequest request) {
  return DecodeResult(SearchBesideWords(list.generation(), EncodePlan(plan), {.meaning = std::move(request)}));
}

// Share of the true nearest that are hits, over some queries; what is a hit is live, passes, and scores what it is.
double MeaningRecall(const Embedded& list, double below, MeaningRequest request) {
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 1000;
  if (below < 100) {
    plan.filter.op = FilterOp::kLess;
    plan.filter.values.push_back({true, below, {}});
  }
  request.weight = 1;
  request.farthest = -1;  // so that every vector is above the floor
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

std::vector<uint32_t> EveryOf(uint32_t count, uint32_t step, uint32_t first) {
  std::vector<uint32_t> records;
  for (uint32_t record = first; record < count; record += step) records.push_back(record);
  return records;
}

}  // namespace

TEST(meaning_finds_the_nearest_through_deletions_filters_and_merges) {
  Embedded list(6000);
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

// A search is as wide as what passes is rare: what was deleted was counted twice, as documents and as vectors, and of two fifths that were gone nearly two thirds were taken to be.
TEST(meaning_counts_once_what_is_deleted) {
  Embedded list(6000);
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

// A way through the graph may meet the second of a record's vectors and miss the nearest: the record scored less than it does where all are compared.
TEST(meaning_scores_a_record_by_its_best_vector_whichever_the_graph_met) {
  Embedded list(3000, 12, 4);
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

TEST(meaning_scores_what_words_find_whether_the_graph_met_it_or_not) {
  Embedded list(3000);
  list.DeleteVectors(EveryOf(3000, 5, 0));
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.groups.push_back(Word("sea", Occur::kShould));
  plan.size = 3000;
  MeaningRequest request;
  request.vector = list.vector(1);
  request.weight = 0.6f;
  request.floor = 0.5f;
  request.wanted = request.width = 10;
  const Result all = RunWithMeaning(list, plan, request);
  std::map<uint32_t, float> cosines;
  for (const auto& [cosine, record] : list.Nearest(request.vector, 100)) cosines[record] = cosine;
  uint32_t by_meaning_alone = 0;
  for (size_t i = 0; i < all.hits.size(); ++i) {
    const uint32_t record = all.hits[i].record_number;
    const auto cosine = cosines.find(record);
    const float expected = cosine == cosines.end() ? 0 : std::max(0.0f, cosine->second);
    CHECK(std::fabs(all.scores[2 * i + 1].score - expected) < 2e-3);
    CHECK(std::fabs(all.hits[i].score - (0.4f * all.scores[2 * i].score + 0.6f * all.scores[2 * i + 1].score)) < 1e-5);
    by_meaning_alone += all.scores[2 * i].score == 0;
  }
  CHECK(by_meaning_alone > 0 && by_meaning_alone <= 10);
  CHECK_EQ(all.hits.size(), 1000 + by_meaning_alone);
  // On every page, and where not all have to be counted: the same hits, which score the same.
  for (const uint32_t flags : {uint32_t{kNeedTotal}, 0u}) {
    for (const uint32_t size : {1u, 3u, 50u}) {
      QueryPlan page = plan;
      page.flags = flags;
      page.skip = size;
      page.size = size;
      const Result result = RunWithMeaning(list, page, request);
      CHECK_EQ(result.hits.size(), size);
      for (uint32_t i = 0; i < size; ++i) {
        CHECK_EQ(result.hits[i].record_number, all.hits[size + i].record_number);
        CHECK_EQ(result.hits[i].score, all.hits[size + i].score);
      }
      if (flags != 0) CHECK_EQ(result.total_count, all.total_count);
    }
  }
  // Words that decide alone are ordered by meaning.
  request.adds_matches = false;
  CHECK_EQ(RunWithMeaning(list, plan, request).hits.size(), 1000u);
  // And what they score may count as more.
  request.words_full = 0.5f;
  for (const ResultHit& hit : RunWithMeaning(list, plan, request).hits) CHECK(hit.score >= 0.4f - 1e-5f && hit.score <= 1);
  // What is expected of the words is the same on every page, and lets the best record count as about full.
  request.words_full = 0;
  const Result expected = RunWithMeaning(list, plan, request);
  CHECK_EQ(expected.hits.size(), 1000u);
  QueryPlan first = plan;
  first.size = 1;
  const Result best = RunWithMeaning(list, first, request);
  CHECK_EQ(best.hits[0].score, expected.hits[0].score);
  CHECK(expected.hits[0].score > 0 && expected.hits[0].score <= 1);
}

// Of the hits, whichever way they were found and in whatever order: behind the filter, once each.
TEST(meaning_hits_are_counted_in_facets_and_sorted_like_those_of_words) {
  Embedded list(3000);
  list.DeleteRecords(EveryOf(3000, 10, 4));
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.groups.push_back(Word("sea", Occur::kShould));
  plan.facets.push_back({kBrandColumn, kBrands});
  plan.filter.op = FilterOp::kLess;
  plan.filter.values.push_back({true, 40, {}});
  MeaningRequest request;
  request.floor = 0.3f;
  request.wanted = request.width = 400;
  for (const uint32_t query : {1u, 50u, 2999u}) {
    request.vector = list.vector(query);
    plan.size = 3000;
    plan.sort_keys.clear();
    const Result all = RunWithMeaning(list, plan, request);
    std::map<std::string, uint32_t> brands;
    std::set<uint32_t> records;
    for (const ResultHit& hit : all.hits) {
      ++brands[BrandOf(hit.record_number)];
      CHECK(hit.record_number % 100 < 40 && hit.record_number % 10 != 4);
      CHECK(records.insert(hit.record_number).second);
    }
    CHECK_EQ(all.total_count, static_cast<double>(records.size()));
    CHECK(std::ranges::any_of(records, [](uint32_t record) { return record % 3 != 0; }));
    for (const auto& [brand, count] : brands) {
      const size_t at = all.facets.find("\"" + brand + "\"");
      CHECK(at != std::string::npos);
      CHECK_EQ(std::atoi(all.facets.c_str() + all.facets.find("\"count\":", at) + 8), static_cast<int>(count));
    }
    plan.sort_keys = {{SortBy::kColumn, false, kPriceColumn, {}}, {SortBy::kScore, true, 0, {}}};
    const Result sorted = RunWithMeaning(list, plan, request);
    CHECK_EQ(sorted.facets, all.facets);
    CHECK_EQ(sorted.hits.size(), records.size());
    for (size_t i = 0; i < sorted.hits.size(); ++i) {
      CHECK(records.contains(sorted.hits[i].record_number));
      if (i == 0) continue;
      const auto key = [&](size_t at) { return std::pair(sorted.hits[at].record_number % 100, -sorted.hits[at].score); };
      CHECK(key(i - 1) <= key(i));
    }
    plan.skip = 7;
    plan.size = 5;
    const Result page = RunWithMeaning(list, plan, request);
    plan.skip = 0;
    CHECK_EQ(page.facets, all.facets);
    CHECK_EQ(page.total_count, all.total_count);
    CHECK_EQ(page.hits.size(), 5u);
    for (size_t i = 0; i < 5; ++i) CHECK_EQ(page.hits[i].record_number, sorted.hits[7 + i].record_number);
  }
}

// Nobody looks at what words do not bring among the best. What the graph missed is where pages could disagree: here it misses much.
TEST(meaning_and_words_agree_on_every_page_and_floor_on_what_the_graph_missed) {
  Embedded list(12000);
  list.MergeVectors();
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.groups.push_back(Word("sea", Occur::kShould));
  plan.groups.push_back(Word("moss", Occur::kShould));
  plan.sequence = {0, 1};
  plan.proximity_weight = 0.6f;
  MeaningRequest request;
  request.floor = 0.3f;
  request.nearest = 0.9f;
  request.words_full = 0;
  uint32_t missed = 0, held = 0;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (uint32_t query = 3; query < 12000; query += 400) {
    request.wanted = request.width = query % 800 == 3 ? 40 : 6;
    request.vector = list.vector(query);
    // Farther and farther from where vectors lie.
    for (float& value : request.vector) value += 1e-4f * static_cast<float>(query) * normal(random);
    CHECK(Normalize(request.vector));
    plan.size = 12000;
    const Result all = RunWithMeaning(list, plan, request);
    CHECK_EQ(all.total_count, 12000.0);
    std::map<uint32_t, float> cosines;
    const auto nearest = list.Nearest(request.vector, 100);
    for (const auto& [cosine, record] : nearest) cosines[record] = cosine;
    std::set<uint32_t> meant;
    for (size_t i = 0; i < all.hits.size(); ++i) {
      const float exact = std::min(1.0f, std::max(0.0f, cosines[all.hits[i].record_number] / request.nearest));
      const float told = all.scores[2 * i + 1].score;
      CHECK(told <= exact + 2e-3);
      held += told < exact - 2e-3;
      if (told > exact - 2e-3) meant.insert(all.hits[i].record_number);
    }
    for (size_t i = 0; i < request.wanted; ++i) missed += !meant.contains(nearest[i].second);
    for (const uint32_t flags : {uint32_t{kNeedTotal}, 0u}) {
      for (const uint32_t size : {1u, 10u, 11u, 300u}) {
        for (const float minimum : {0.0f, all.hits[size].score}) {
          QueryPlan page = plan;
          page.flags = flags;
          page.minimum_score = minimum;
          page.skip = size / 2;
          page.size = size;
          const Result result = RunWithMeaning(list, page, request);
          const auto reaches = [&](const ResultHit& hit) { return hit.score >= minimum; };
          const auto reaching = static_cast<size_t>(std::ranges::count_if(all.hits, reaches));
          if (flags != 0) CHECK_EQ(result.total_count, static_cast<double>(reaching));
          const size_t expected = reaching <= page.skip ? 0 : std::min<size_t>(size, reaching - page.skip);
          CHECK_EQ(result.hits.size(), expected);
          for (uint32_t i = 0; i < result.hits.size(); ++i) {
            CHECK_EQ(result.hits[i].record_number, all.hits[page.skip + i].record_number);
            CHECK_EQ(result.hits[i].score, all.hits[page.skip + i].score);
            CHECK_EQ(result.scores[2 * i + 1].score, all.scores[2 * (page.skip + i) + 1].score);
          }
        }
      }
    }
  }
  std::printf("  of 30 x 12000 scores, held to those of the nearest: %u, %u of them among the nearest\n", held, missed);
  CHECK(missed > 0);
  CHECK(held < 3000);
}

// A facet has both evaluated window by window; without, words are searched by a threshold. Nothing of what is answered shows it.
TEST(meaning_and_words_are_the_same_by_threshold_and_by_windows) {
  Embedded list(12000);
  list.MergeVectors();
  list.DeleteRecords(EveryOf(12000, 7, 3));
  list.DeleteVectors(EveryOf(12000, 5, 1));
  MeaningRequest request;
  request.floor = 0.3f;
  request.nearest = 0.9f;
  request.wanted = request.width = 60;
  request.words_full = 0;
  const std::vector<std::vector<std::string>> queries{{"sea"}, {"sea", "moss"}, {"moss"}, {"none"}, {"sea", "none"}};
  for (const std::vector<std::string>& words : queries) {
    for (const Occur occur : {Occur::kShould, Occur::kMust, Occur::kMustNot}) {
      QueryPlan plan;
      plan.groups.push_back(Word(words[0], Occur::kShould));
      if (words.size() > 1) plan.groups.push_back(Word(words[1], occur));
      if (words.size() == 1 && occur != Occur::kShould) continue;
      // Words that stand near each other score more.
      if (words.size() > 1 && occur == Occur::kShould) {
        plan.sequence = {0, 1};
        plan.proximity_weight = 0.6f;
      }
      for (const double below : {100.0, 40.0, 1.0}) {
        if (below < 100) {
          plan.filter.op = FilterOp::kLess;
          plan.filter.values = {{true, below, {}}};
        }
        for (const uint32_t size : {1u, 10u, 500u}) {
          for (const uint32_t flags : {uint32_t{kNeedTotal}, 0u}) {
            request.vector = list.vector(size * 7 + 5);
            plan.flags = flags;
            plan.size = size;
            plan.facets.clear();
            const Result by_threshold = RunWithMeaning(list, plan, request);
            plan.facets.push_back({kBrandColumn, kBrands});
            const Result by_windows = RunWithMeaning(list, plan, request);
            if (flags != 0) CHECK_EQ(by_threshold.total_count, by_windows.total_count);
            CHECK_EQ(by_threshold.hits.size(), by_windows.hits.size());
            for (size_t i = 0; i < by_threshold.hits.size() && i < by_windows.hits.size(); ++i) {
              CHECK_EQ(by_threshold.hits[i].record_number, by_windows.hits[i].record_number);
              CHECK_EQ(by_threshold.hits[i].score, by_windows.hits[i].score);
            }
          }
        }
      }
    }
  }
}

// Each segment is asked for a part of what is wanted, and again where that was not enough.
TEST(meaning_finds_the_nearest_wherever_they_lie) {
  for (const uint32_t heaps : {0u, 4u, 40u}) {
    Embedded list(12000, heaps);
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
