// Tests the threshold search of words and meaning if many documents have the same score by words.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../kernel/engine/search.h"
#include "../kernel/sources/meaning_source.h"
#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_writer.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

constexpr uint32_t kEqual = 4096;
constexpr uint32_t kNearest = 100;
constexpr size_t kCompletedAtOnceMax = 16;
constexpr uint16_t kMadeBy = 0;
const SegmentSchema kEqualSchema{{1}, {{"brand", ColumnType::kString, false}}};

// A list of titles of one word, which all score the same, with vectors of different angles. The records with the nearest vectors lack the word.
class EqualTitles {
 public:
  EqualTitles() {
    std::vector<DocumentWriter> documents;
    std::vector<float> values;
    std::vector<uint32_t> records, passages(kEqual + kNearest);
    for (uint32_t record = 0; record < kEqual + kNearest; ++record) {
      const bool is_near = record >= kEqual;
      documents.push_back(DocumentWriter(record).Text(0, is_near ? "stone" : "moss").String(kMadeBy, "acme"));
      const float angle = is_near ? static_cast<float>(record - kEqual) / 10'000 : 0.1f + static_cast<float>(record * 1571 % kEqual) / kEqual;
      for (const float value : {std::cos(angle), std::sin(angle)}) values.push_back(value);
      records.push_back(record);
    }
    vectors::VectorRows rows;
    rows.dimensions = 2;
    rows.vectors = values;
    rows.records = records;
    rows.passages = passages;
    const std::string path = folder_.path() / "vectors.gvs";
    vectors::BuildVectors(path, rows);
    const std::vector<SegmentView> words{{folder_.Build(kEqualSchema, documents), {}}};
    generation_ = DeriveGeneration(nullptr, words, {}, {}, "", VectorChange{{{vectors::VectorSegment::Open(path)}}});
  }

  const Generation& generation() const { return *generation_; }

 private:
  TemporaryFolder folder_;
  std::shared_ptr<const Generation> generation_;
};

// Passes all calls to a source of meaning, and records how many documents each call of ScoreOthers completes.
class CountedMeaning final : public Source {
 public:
  explicit CountedMeaning(MeaningSource* meaning) : meaning_(*meaning) {}
  std::vector<size_t> completed;

  ScoreKind kind() const override { return meaning_.kind(); }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override {
    return std::make_unique<OfSegment>(meaning_.Open(segment, all_matches), &completed);
  }
  std::span<const uint32_t> Strongest(uint32_t segment) const override { return meaning_.Strongest(segment); }
  float OthersBound() const override { return meaning_.OthersBound(); }
  bool IsListed() const override { return meaning_.IsListed(); }
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override { return meaning_.ScoreOf(segment, document); }
  SourceScore LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit limit) override {
    return meaning_.LimitedScoreOf(segment, document, limit);
  }
  void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) override {
    meaning_.ScoresOf(segment, documents, scores);
  }

 private:
  class OfSegment final : public SegmentSource {
   public:
    OfSegment(std::unique_ptr<SegmentSource> meaning, std::vector<size_t>* completed) : meaning_(std::move(meaning)), completed_(*completed) {}
    float Bound() const override { return meaning_->Bound(); }
    uint32_t NextWindow(uint32_t from, float least) override { return meaning_->NextWindow(from, least); }
    Window* Find(WindowRange range, float least) override { return meaning_->Find(range, least); }
    bool CompletesOthers() const override { return meaning_->CompletesOthers(); }
    void Complete(WindowRange range, const WindowBits& documents, ScoreLimit limit, Window* found) override {
      meaning_->Complete(range, documents, limit, found);
    }
    void ScoreOthers(std::span<const uint32_t> documents, std::span<const ScoreLimit> limits, float* scores) override {
      CHECK(std::ranges::is_sorted(documents));
      completed_.push_back(documents.size());
      meaning_->ScoreOthers(documents, limits, scores);
    }

   private:
    std::unique_ptr<SegmentSource> meaning_;
    std::vector<size_t>& completed_;
  };

  MeaningSource& meaning_;
};

}  // namespace

TEST(threshold_search_completes_few_at_once_if_thousands_score_the_same) {
  const EqualTitles list;
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 10;
  plan.groups.push_back(Word("moss", Occur::kShould));
  MeaningRequest request;
  request.vector = {1, 0};
  request.wanted = request.width = 60;
  const auto search = [&](std::vector<size_t>* completed) {
    vectors::VectorSearcher searcher;
    MeaningSource meaning(&list.generation(), &plan.filter, request, &searcher);
    CountedMeaning counted(&meaning);
    OtherSources others;
    others.words_weight = 0.5f;
    others.words_full = 0;
    others.shares.push_back({&counted, 0.5f});
    const Result result = DecodeResult(Search(list.generation(), EncodePlan(plan), others));
    *completed = counted.completed;
    return result;
  };
  std::vector<size_t> completed;
  const Result by_threshold = search(&completed);
  size_t all = 0;
  for (const size_t each : completed) {
    CHECK(each <= kCompletedAtOnceMax);
    all += each;
  }
  CHECK(all >= kCompletedAtOnceMax);
  CHECK(all <= kEqual);
  CHECK(by_threshold.total_count > kEqual);
  // A facet forces the evaluation window by window.
  plan.facets.push_back({kMadeBy, 1});
  const Result by_windows = search(&completed);
  CHECK(completed.empty());
  CHECK_EQ(by_threshold.total_count, by_windows.total_count);
  CHECK_EQ(by_threshold.hits.size(), size_t{10});
  for (size_t i = 0; i < by_threshold.hits.size(); ++i) {
    CHECK_EQ(by_threshold.hits[i].record_number, by_windows.hits[i].record_number);
    CHECK_EQ(by_threshold.hits[i].score, by_windows.hits[i].score);
  }
}

}  // namespace gannet::test
