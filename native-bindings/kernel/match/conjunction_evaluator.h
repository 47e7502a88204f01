// Conjunctions, document by document: the postings of the rarest required term, a block at a time, less the documents
// that other required lists lack, then less those where phrases do not stand or other groups do not match.
//
// A group that has one alternative in the segment requires its term, or all words of its phrase. Where such a list is
// short, this costs far less than windows do.
//
// Thread-safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../generation/generation.h"
#include "../query/prepared_query.h"
#include "../window/window.h"
#include "group_evaluator.h"

namespace gannet {

class ConjunctionEvaluator {
 public:
  struct Groups {
    std::vector<GroupEvaluator*> must;
    std::vector<GroupEvaluator*> must_not;
    std::vector<GroupEvaluator*> scoring;  // in the order of scoring
  };

  // Whether this way is likely to be the cheaper one. `must` is not empty.
  static bool IsWorthwhile(std::span<GroupEvaluator* const> must, uint32_t document_count);

  // The groups are used by this alone while it lives. `all_matches`: also of documents that a bar rules out.
  ConjunctionEvaluator(const PreparedQuery* query, const uint8_t* norms, Groups groups, bool with_scores,
                       bool all_matches);

  // The next match >= target that the bar does not rule out; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target, float bar);

  // How many documents match that are not deleted. Instead of the other methods.
  uint64_t Count(const DeletionSet& deletions);

  // Finds the matches that come next, a block's at most; false where there are none. Instead of the other methods, too.
  bool NextMatches(float bar);
  std::span<const uint32_t> documents() const { return {documents_.data(), count_}; }
  std::span<const float> scores() const { return {scores_.data(), count_}; }

  // Adds the matches of the window, and sets their scores. Windows must ascend.
  void Evaluate(Window* window, float bar);

 private:
  // A list that every match is in, and the postings of the documents at hand in it.
  struct Required {
    PostingCursor* cursor;
    alignas(64) std::array<uint32_t, kBlockSize> postings;
  };
  // A group: its required lists, by slot where it is a phrase.
  struct Clause {
    GroupEvaluator* group;
    std::vector<uint32_t> required;  // none: the group is looked up
    bool is_must;
    float others_bound;  // what all others add, the bonus included
    std::array<float, kBlockSize> frequencies;
  };

  bool Refill(uint32_t target, uint32_t end, float bar);
  bool MayReach(float contribution, const Clause& clause, float bar) const {
    return contribution + clause.others_bound >= bar;
  }
  void TakeBlock(uint32_t block, uint32_t target, float bar);
  void KeepThoseReaching(float bar);
  void IntersectLists();
  bool needs_postings() const { return with_scores_ || has_phrase_; }
  void CheckClauses(float bar);
  template <typename Test>
  void KeepIf(Test&& test);
  bool CheckPhrase(Clause* clause, uint32_t place, float bar);
  void Score();

  const PreparedQuery* query_;
  const uint8_t* norms_;
  bool with_scores_;
  bool all_matches_;
  bool has_phrase_ = false;
  std::vector<GroupEvaluator*> must_not_;
  std::vector<Required> required_;  // the shortest first
  std::vector<Clause> clauses_;     // in the order of scoring
  Clause* lead_ = nullptr;          // the clause of the shortest list
  uint32_t next_block_ = 0;         // of it
  std::vector<uint32_t> slot_postings_;
  size_t intersected_ = 0;   // lists whose postings are those of the documents at hand
  bool is_checked_ = false;  // whether clauses have frequencies of these

  // Matches that have not been handed out yet: those from next_ on.
  alignas(64) std::array<uint32_t, kBlockSize> documents_;
  alignas(64) std::array<float, kBlockSize> scores_;
  uint32_t count_ = 0;
  uint32_t next_ = 0;
};

}  // namespace gannet
