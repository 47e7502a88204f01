// One group of a query in one segment: finds the documents of a window that it matches, and what it adds to their
// scores.
//
// Window-at-a-time methods are in group_evaluator_windows.cc; the others, also those for whole spans of windows, are in
// group_evaluator.cc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../cursors/phrase_matcher.h"
#include "../cursors/pooled_postings.h"
#include "../cursors/posting_cursor.h"
#include "../query/prepared_query.h"
#include "../window/span_scratch.h"
#include "../window/window.h"

namespace gannet {

// Allows for rounding in comparisons with sums of floats.
inline constexpr float kBoundFactor = 1 + 1e-5f;

// Working memory that the evaluators of a thread share. All arrays are zero between uses (window.h).
struct EvaluatorScratch {
  Window window;
  WindowBits candidates;
  alignas(64) uint8_t flags[kWindowSize] = {};
  std::vector<PostingCursor> cursors;
  std::vector<uint64_t> span_bits;  // of a UnionMatcher
  SpanScratch span;                 // of a SpanUnion
  // Documents, their postings in a list, and their indexes before they were looked up there.
  std::array<uint32_t, kWindowSize> documents;
  std::array<uint32_t, kWindowSize> postings;
  std::array<uint32_t, kWindowSize> places;
};

class GroupEvaluator {
 public:
  // Takes cursors from `*cursors`, as many as CursorCount returned.
  GroupEvaluator(const PreparedQuery* query, const PreparedGroup* group, uint32_t segment, EvaluatorScratch* scratch,
                 PostingCursor** cursors);
  static size_t CursorCount(const PreparedGroup& group, const PreparedQuery& query, uint32_t segment);

  // True if no document of the segment can match.
  bool empty() const { return alternatives_.empty(); }
  // True for a single term of weight 1: Scatter and ScoreCandidates may be used, and are the fast way for unions.
  bool is_single_term() const { return single_ != nullptr; }
  const PreparedGroup& group() const { return *group_; }
  size_t alternative_count() const { return alternatives_.size(); }
  // True if only one alternative can match in the segment, whatever its weight. The methods below then describe it.
  bool has_one_alternative() const { return alternatives_.size() == 1; }
  float only_weight() const { return alternatives_[0].weight; }
  bool has_phrases() const;
  PhraseMatcher* phrase() const { return alternatives_[0].phrase.get(); }  // null for a term
  // Returns the list of the first alternative that is a term of weight 1; the group adds no less to a score than this
  // term does. Null if there is none.
  const PostingList* plain_term() const;
  // The lists that every match is in: that of the term, or those of the phrase's distinct words by slot.
  std::span<PostingCursor> required_cursors() const {
    return alternatives_[0].phrase ? alternatives_[0].phrase->cursors() : std::span(alternatives_[0].term, 1);
  }
  // For a group with one alternative: the most that it adds to a document of a block of one of these lists.
  float BlockBound(const PostingCursor& cursor, uint32_t block) const { return BlockBound(cursor, block, only_weight()); }
  // Upper bound of the postings to read, and an estimate for a range.
  uint64_t cost() const { return cost_; }
  uint64_t CostIn(WindowRange range) const { return cost_ * (range.end - range.base) / document_count_; }
  // Returns true if gathering the range costs less than looking up this number of candidates.
  bool IsCheaperGathered(WindowRange range, uint64_t candidates) const;

  // Return a lower bound of the next document >= target that matches; kNoDocument if there is none. NextDocumentBound
  // decodes nothing and is less tight.
  uint32_t NextDocument(uint32_t target);
  uint32_t NextDocumentBound(uint32_t target);

  // Return the most that the group adds to the score of any document, or of any in the range. Ranges must ascend.
  float Bound() const { return bound_; }
  float Bound(WindowRange range);

  // Computes bits(): correct for the documents in `candidates` (all if null), undefined for others. With `for_scores`,
  // AddScores may follow.
  void Match(WindowRange range, const WindowBits* candidates, bool for_scores);
  // The same for all documents and for scores, but leaves out blocks of postings whose bound is more than `spare` below
  // the one that Bound(range) took for their list.
  void MatchAbove(WindowRange range, float spare);
  const WindowBits& bits() const { return bits_; }
  // Returns true if bits() are those of this range.
  bool HasMatched(WindowRange range) const { return range_.base == range.base && range_.end == range.end; }

  // Adds the contribution of the group to those of `matches` (a subset of Match's candidates) that it matches.
  void AddScores(const WindowBits& matches, float* scores);
  // The same for all documents that it matches.
  void AddScores(float* scores);

  // Single terms: returns true if Scatter costs less in a window than ScoreCandidates for this number of candidates.
  bool IsCheaperWhole(uint32_t candidates) const;
  // Single terms: adds to the scores of the candidates that have the term, without Match.
  void ScoreCandidates(WindowRange range, const WindowBits& candidates, float* scores);

  // Single terms: adds to the scores of all documents in the window. Returns the mask of the words touched.
  uint64_t Scatter(WindowRange range, float* scores);
  // The same, without the blocks that MatchAbove leaves out.
  uint64_t ScatterAbove(WindowRange range, float spare, float* scores);
  // Returns true if `spare` may leave out any block (MatchAbove).
  bool HasBlocksBelow(float spare);

  // Gather appends the group's postings in the range; GatherAmong only those of documents whose bit (of document -
  // range.base) is set. Ranges must ascend. Blocks in which no posting adds `least` to a score (0: any) are appended
  // without frequencies.
  void Gather(WindowRange range, float least, GatheredPostings* out);
  void GatherAmong(WindowRange range, const uint64_t* bits, GatheredPostings* out);
  // Single terms: as Gather, with what each posting adds to the score of its document instead of its frequency. Blocks
  // in which none adds `least` may be left out.
  void Weigh(WindowRange range, float least, GatheredPostings* out);
  // Writes the weighted frequency of each of these ascending documents; 0 if it does not match. Documents must also
  // ascend from call to call.
  void LookUp(std::span<const uint32_t> documents, LookUpScratch* scratch, float* frequencies);

  // Set the bits (of document - range.base) of the documents in the range that the group's terms, or its phrases,
  // match; MarkPhrases examines only documents whose bit is not set. Return a mask of the windows of the range, at most
  // 64, that may have received any. Ranges must ascend.
  uint64_t MarkTerms(WindowRange range, uint64_t* bits);
  uint64_t MarkPhrases(WindowRange range, uint64_t* bits);

  // Single terms: returns how many documents of the range have no bit in `bits`. Ranges must ascend.
  uint32_t CountUnmarked(WindowRange range, const uint64_t* bits) { return single_->CountUnmarked(range, bits); }

  // Returns the weighted frequency of the group in a document, in any order of documents; 0 if it does not match.
  float Frequency(uint32_t document, bool any);

 private:
  // Weighted frequencies of a window with the offsets of the non-zero ones, so that a few of them cost little.
  struct Frequencies {
    alignas(64) std::array<float, kWindowSize> of{};  // by offset
    TouchedOffsets touched;
  };

  struct Alternative {
    float weight;
    PostingCursor* term;                    // null for a phrase
    std::unique_ptr<PhraseMatcher> phrase;  // null for a term
    float bound = 0;                        // of Bound(range), not yet times the group's weight
  };

  // Pools the rare terms. Only a caller that visits many windows, and each list in each, gains by pooling.
  void PoolRareTerms();
  // The alternatives that are not pooled.
  std::span<Alternative> walked() { return std::span(alternatives_).first(walked_count_); }
  float BlockBound(const PostingCursor& cursor, uint32_t block, float weight) const;
  bool MayReach(const Alternative& alternative, uint32_t block, float least) const;
  template <typename IsWanted>
  static void GatherPhrase(WindowRange range, const Alternative& alternative, IsWanted&& is_wanted, GatheredPostings* out);
  float LeastBlockBound(const Alternative& alternative, float spare) const;
  uint64_t AlternativeCost(const Alternative& alternative) const;
  bool ShouldProbe(const WindowBits* candidates) const;
  void MatchSingle(WindowRange range);
  void MatchByProbing(WindowRange range, const WindowBits* candidates, bool for_scores);
  void MatchByFlags(WindowRange range, const WindowBits* candidates);
  void MatchByAccumulation(WindowRange range, const WindowBits* candidates);
  template <typename Choose>
  void AccumulateTerm(WindowRange range, const Alternative& alternative, Choose&& choose);
  void AddFrequency(uint32_t offset, float frequency);
  void FinishAccumulation();
  void AddPhrase(WindowRange range, const WindowBits* candidates, const Alternative& alternative, bool for_scores);
  void AddRankedScores(const WindowBits& matches, float* scores);
  void WipeFrequencies();

  const PreparedQuery* query_;
  const PreparedGroup* group_;
  EvaluatorScratch* scratch_;
  const uint8_t* norms_;
  uint32_t document_count_;
  uint64_t cost_ = 0;
  float bound_ = 0;
  float excess_ = 0;  // sum of the alternatives' bounds of Bound(range), minus the group's bound
  std::vector<Alternative> alternatives_;  // in the order of summing
  size_t walked_count_ = 0;
  bool may_pool_ = false;
  std::unique_ptr<PooledPostings> pooled_;  // of the alternatives after the walked ones; null if there are none
  PostingCursor* single_ = nullptr;

  // Results of the last Match.
  WindowRange range_{0, 0};
  bool ranked_ = false;         // bits_ are all the single term's postings in the window
  uint32_t first_posting_ = 0;  // number of the first of these postings
  WindowBits bits_;
  std::unique_ptr<Frequencies> frequencies_;  // for several alternatives or phrases, if windows are matched
};

}  // namespace gannet
