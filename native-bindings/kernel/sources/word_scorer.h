// Scores a few documents by the words of a query: the same scores as the evaluator's, to the bit.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "../cursors/posting_cursor.h"
#include "../query/prepared_query.h"

namespace gannet {

class WordScorer {
 public:
  // Both arguments must outlive the object.
  WordScorer(const PreparedQuery* query, ProximityScorer* proximity) : query_(*query), proximity_(*proximity) {}

  // Returns the scores, with the bonus, of documents of a segment, which must ascend; 0 if the words do not find one.
  // Valid until the next call.
  const std::vector<float>& Score(uint32_t segment, std::span<const uint32_t> documents);
  const std::vector<float>& ScoreWithoutBonus(uint32_t segment, std::span<const uint32_t> documents);
  // The same for the documents [begin, end).
  const std::vector<float>& Score(uint32_t segment, uint32_t begin, uint32_t end);

 private:
  bool AddGroup(const PreparedGroup& group);
  void AddFrequencies(const PreparedAlternative& alternative);
  template <typename Next, typename FrequencyOf>
  void AddFrequencies(float weight, Next&& next, FrequencyOf&& frequency_of);
  bool Open(uint32_t term, size_t cursor);
  void Rule(const PreparedGroup& group);

  const PreparedQuery& query_;
  ProximityScorer& proximity_;
  uint32_t segment_ = 0;
  std::span<const uint32_t> documents_;
  std::vector<uint32_t> range_;    // the documents, if asked for as a range
  std::vector<float> scores_;
  std::vector<float> sums_;      // frequencies of the current group
  std::vector<uint8_t> ruled_out_;
  std::vector<PostingCursor> cursors_;
  std::vector<uint32_t> distinct_;  // distinct terms of the current phrase
  std::vector<uint32_t> slots_;     // for each word of the phrase, its index in distinct_
};

}  // namespace gannet
