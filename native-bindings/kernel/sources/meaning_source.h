// The meaning of records as a source: vectors of a generation that are near to one.
//
// At most `wanted` nearest vectors, in the whole generation and behind the plan's filter, *find*: their records are hits where
// they are near enough, whatever the words say. The number is the caller's and the same for every page, so that what is a hit does not depend
// on where one looks from. Any other record that something finds is *scored* by its own vectors. A record's score is that of
// its best vector, and that vector's passage is where it comes from.
//
// What was not listed is expected to score no more than one of the nearest does, some way down their list: it is not nearer, unless the search missed it so
// near to the top. So a bar rules out what words do not bring there (docs/decisions/0258-what-is-not-among-the-nearest.md).
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../vectors/vector_search.h"
#include "listed_documents.h"
#include "source.h"

namespace gannet {

// As many vectors as a search may want, and candidates as it may keep.
inline constexpr uint32_t kMeaningWantedMax = 10'000;
inline constexpr uint32_t kMeaningWidthMax = 20'000;

struct MeaningRequest {
  std::vector<float> vector;   // of any length above zero
  float weight = 0.5f;         // above 0, up to 1; words have the rest
  bool adds_matches = true;    // false: it scores what words find
  float floor = 0;             // of a score: what is below is not near enough to be a hit by meaning alone
  float farthest = 0;          // cosines that score 0 and 1
  float nearest = 1;
  uint32_t wanted = 100;
  uint32_t width = 100;        // candidates that are kept while a graph is searched
  bool exact = false;          // every vector is compared
  float words_full = 1;        // a score of the words that counts as 1; 0: what the query's best record is expected to score
};

class MeaningSource : public Source {
 public:
  // Searches at once. Error(kInvalidArgument) where a number of the request is out of its range, or the vector has another number of
  // dimensions than those of the generation. All arguments outlive the object, but for the searcher.
  MeaningSource(const Generation* generation, const FilterNode* filter, MeaningRequest request, vectors::VectorSearcher* searcher);

  ScoreKind kind() const override { return ScoreKind::kMeaning; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  std::span<const uint32_t> Strongest(uint32_t segment) const override { return strongest_[segment]; }
  float OthersBound() const override { return others_full_; }
  bool IsListed() const override { return true; }
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override { return LimitedScoreOf(segment, document, ScoreLimit::kNone); }
  SourceScore LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit limit) override;
  void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) override;
  // `cosine`, and how the segment that has its best vector was searched: `way`, `compared` (codes).
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

  // Those that were found in the segment, ascending.
  const std::vector<ListedDocument>& listed(uint32_t segment) const { return listed_[segment]; }

 private:
  // A record's best vector.
  struct Best {
    float cosine;
    uint32_t place;
    uint32_t vectors;  // which of the generation's
  };
  struct Found {
    float cosine;
    uint32_t record;
    uint32_t segment;
    uint32_t document;
    bool has_several;  // vectors, of which it may not be the best
  };
  class OfSegment;

  struct Asked;
  std::vector<Found> SearchAll(const FilterNode& filter, vectors::VectorSearcher* searcher);
  // The nearest of a segment, the nearest first.
  std::vector<Found> Search(const FilterNode& filter, uint32_t wanted, Asked* asked, vectors::VectorSearcher* searcher);
  // What passes a filter that was asked for before; null for one that was not.
  std::shared_ptr<const vectors::PassingVectors> Prepared(uint32_t index, const FilterNode& filter) const;
  void List(std::vector<Found> found);
  // Above 1 for cosines above that of the nearest.
  float ScoreOfCosine(float cosine) const;
  Best BestOf(uint32_t record) const;
  // Calls visit(index of the generation's vectors, ordinal) for the vectors that a record has.
  template <typename Visit>
  void ForEachVector(uint32_t record, Visit&& visit) const;
  const ListedDocument* FindListed(uint32_t segment, uint32_t document) const;

  const Generation& generation_;
  MeaningRequest request_;
  std::vector<vectors::SearchCost> costs_;               // by segment of vectors
  std::vector<std::vector<ListedDocument>> listed_;      // by segment of words
  std::vector<std::vector<uint32_t>> strongest_;         // their documents
  float others_full_;                                    // the most that what is not listed is expected to score
};

}  // namespace gannet
