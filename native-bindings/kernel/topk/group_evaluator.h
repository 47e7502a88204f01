// One group of a query in one segment: which documents of a window it matches, and what it adds to their scores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "phrase_matcher.h"
#include "posting_cursor.h"
#include "prepared_query.h"
#include "window.h"

namespace gannet {

// What evaluators of one thread share. All arrays are zero between uses (window.h).
struct EvaluatorScratch {
  Window window;
  alignas(64) uint8_t flags[kWindowSize] = {};
  alignas(64) float contributions[kBlockSize + kVectorPadding] = {};
  std::vector<PostingCursor> cursors;
};

class GroupEvaluator {
 public:
  // Takes cursors from `*cursors`, as many as CursorCount said.
  GroupEvaluator(const PreparedQuery* query, const PreparedGroup* group, uint32_t segment, EvaluatorScratch* scratch,
                 PostingCursor** cursors);
  static size_t CursorCount(const PreparedGroup& group, const PreparedQuery& query, uint32_t segment);

  // No document of the segment can match.
  bool empty() const { return alternatives_.empty(); }
  // One term of weight 1: Scatter and SetFlags may be used, and are the fast way for unions.
  bool is_single_term() const { return single_ != nullptr; }
  const PreparedGroup& group() const { return *group_; }
  // Postings to look at, at most.
  uint64_t cost() const { return cost_; }

  // A lower bound of the next document >= target that matches; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target);

  // Computes bits(): right for the documents in `candidates` (all where null), anything for others. With
  // `for_scores`, AddScores may follow.
  void Match(WindowRange range, const WindowBits* candidates, bool for_scores);
  const WindowBits& bits() const { return bits_; }

  // Adds the contribution of the group to those of `matches` (a subset of Match's candidates) that it matches.
  void AddScores(const WindowBits& matches, float* scores);

  // Single terms: adds to the scores of all documents in the window. Returns the words touched.
  uint64_t Scatter(WindowRange range, float* scores);
  // Single terms: sets the bits or the flags of all documents in the window. Returns the words of flags touched.
  uint64_t SetFlags(WindowRange range, WindowBits* bits, uint8_t* flags);

  // Weighted frequency of the group in a document, any order; 0 where it does not match.
  float Frequency(uint32_t document, bool any);

 private:
  struct Alternative {
    float weight;
    PostingCursor* term;                    // null for a phrase
    std::unique_ptr<PhraseMatcher> phrase;  // null for a term
  };

  uint64_t AlternativeCost(const Alternative& alternative) const;
  bool ShouldProbe(const WindowBits* candidates) const;
  void MatchSingle(WindowRange range);
  void MatchByProbing(WindowRange range, const WindowBits* candidates, bool for_scores);
  void MatchByFlags(WindowRange range, const WindowBits* candidates);
  void MatchByAccumulation(WindowRange range, const WindowBits* candidates);
  void AddPhrase(WindowRange range, const WindowBits* candidates, const Alternative& alternative, bool for_scores);
  void AddRankedScores(const WindowBits& matches, float* scores);
  void WipeFrequencies();

  const PreparedQuery* query_;
  const PreparedGroup* group_;
  EvaluatorScratch* scratch_;
  const uint8_t* norms_;
  uint32_t document_count_;
  uint64_t cost_ = 0;
  std::vector<Alternative> alternatives_;
  PostingCursor* single_ = nullptr;

  // Of the last Match.
  WindowRange range_{0, 0};
  bool ranked_ = false;         // bits_ are all the single term's postings of the window
  uint32_t first_posting_ = 0;  // number of the first of them
  WindowBits bits_;
  std::unique_ptr<float[]> frequencies_;  // by offset; several alternatives or phrases
  uint64_t frequency_words_ = 0;          // touched
};

}  // namespace gannet
