// The meaning of records as a source: finds vectors of a generation that are near to a given one.
//
// At most `wanted` nearest vectors of the whole generation that pass the plan's filter *find*: their records are hits
// if they are near enough, whatever the words say. The caller chooses this number and uses it for every page, so that a
// record is a hit or not independently of the page. Any other record that another source finds is *scored* by its own
// vectors. A record's score is that of its best vector, and the passage of that vector is its place.
//
// An unlisted record is expected to score at most what one of the nearest scores, some way down the list: it is not
// nearer unless the search missed it so near to the top. So a bar also rules out unlisted records that the words do not
// bring there (docs/decisions/0258-what-is-not-among-the-nearest.md).
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

// Maximum numbers of vectors that a search may want and of candidates that it may keep.
inline constexpr uint32_t kMeaningWantedMax = 10'000;
inline constexpr uint32_t kMeaningWidthMax = 20'000;

struct MeaningRequest {
  std::vector<float> vector;   // of any length above zero
  float weight = 0.5f;         // above 0, up to 1; words have the rest
  bool adds_matches = true;    // false: only scores what the words find
  float floor = 0;             // of a score: a record below is not near enough to be a hit by meaning alone
  float farthest = 0;          // the cosines that score 0 and 1 are `farthest` and `nearest`
  float nearest = 1;
  uint32_t wanted = 100;
  uint32_t width = 100;        // candidates that are kept while a graph is searched
  bool exact = false;          // compare every vector
  // Score of the words that counts as 1; 0: the score expected of the query's best record.
  float words_full = 1;
};

class MeaningSource : public Source {
 public:
  // Runs the search. Throws Error(kInvalidArgument) if a number of the request is out of its range, or if the vector
  // has another number of dimensions than those of the generation. All arguments except the searcher must outlive the
  // object.
  MeaningSource(const Generation* generation, const FilterNode* filter, MeaningRequest request, vectors::VectorSearcher* searcher);

  ScoreKind kind() const override { return ScoreKind::kMeaning; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  std::span<const uint32_t> Strongest(uint32_t segment) const override { return strongest_[segment]; }
  float OthersBound() const override { return others_full_; }
  bool IsListed() const override { return true; }
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override { return LimitedScoreOf(segment, document, ScoreLimit::kNone); }
  SourceScore LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit limit) override;
  void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) override;
  // Appends `cosine`, and how the segment of the best vector was searched: `way` and `compared` (number of codes).
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

  // The documents that were found in the segment, ascending.
  const std::vector<ListedDocument>& listed(uint32_t segment) const { return listed_[segment]; }

 private:
  // The best vector of a record.
  struct Best {
    float cosine;
    uint32_t place;
    uint32_t vectors;  // index of the segment of vectors
  };
  struct Found {
    float cosine;
    uint32_t record;
    uint32_t segment;
    uint32_t document;
    bool has_several;  // the record has several vectors, and this may not be its best
  };
  class OfSegment;

  struct Asked;
  std::vector<Found> SearchAll(const FilterNode& filter, vectors::VectorSearcher* searcher);
  // Returns the nearest of a segment, nearest first.
  std::vector<Found> Search(const FilterNode& filter, uint32_t wanted, Asked* asked, vectors::VectorSearcher* searcher);
  // Returns the vectors that pass a filter if it was requested before; null for a new one.
  std::shared_ptr<const vectors::PassingVectors> Prepared(uint32_t index, const FilterNode& filter) const;
  void List(std::vector<Found> found);
  // Returns a value above 1 if the cosine is above that of the nearest.
  float ScoreOfCosine(float cosine) const;
  Best BestOf(uint32_t record) const;
  // Calls visit(index of the segment of vectors, ordinal) for each vector of a record.
  template <typename Visit>
  void ForEachVector(uint32_t record, Visit&& visit) const;
  const ListedDocument* FindListed(uint32_t segment, uint32_t document) const;

  const Generation& generation_;
  MeaningRequest request_;
  std::vector<vectors::SearchCost> costs_;               // by segment of vectors
  std::vector<std::vector<ListedDocument>> listed_;      // by segment of words
  std::vector<std::vector<uint32_t>> strongest_;         // documents of listed_
  float others_full_;                                    // the most that an unlisted record is expected to score
};

}  // namespace gannet
