// A list of records with vectors and words, its nearest records by a comparison of all, and searches of it by meaning.
//
// Thread-safety: a list belongs to one thread; the functions are pure.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/engine/search.h"
#include "../kernel/sources/live_ordinals.h"
#include "../kernel/vectors/vector_writer.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {

using vectors::Normalize;

constexpr uint32_t kMeaningDimensions = 24;
inline const SegmentSchema kMeaningSchema{
    {1}, {{"price", ColumnType::kNumber, false}, {"brand", ColumnType::kString, false}}};
constexpr uint16_t kPriceColumn = 0, kBrandColumn = 1;
constexpr uint32_t kBrands = 4;

inline std::string BrandOf(uint32_t record) { return "brand" + std::to_string(record / 3 % kBrands); }

// Records with one vector each, some with two in every other run of 300 records. Words are in two segments, vectors in two vector segments with another boundary.
class EmbeddedList {
 public:
  // `heaps`: number of centres of the vectors, with adjacent records around the same one; 0: count / 20 centres, chosen at random.
  // `passages`: least number of vectors per record.
  explicit EmbeddedList(uint32_t count, uint32_t heaps = 0, uint32_t passages = 1) : count_(count) {
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

  // Returns the live records with a price less than `below` with their best cosine, the nearest first.
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
      // Gives records many different scores by words.
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

inline Result RunWithMeaning(const EmbeddedList& list, const QueryPlan& plan, MeaningRequest request) {
  return DecodeResult(SearchBesideWords(list.generation(), EncodePlan(plan), {.meaning = std::move(request)}));
}

inline std::vector<uint32_t> EveryOf(uint32_t count, uint32_t step, uint32_t first) {
  std::vector<uint32_t> records;
  for (uint32_t record = first; record < count; record += step) records.push_back(record);
  return records;
}

}  // namespace gannet::test
