// Evaluates conjunctions document by document. Takes the postings of the rarest required term, a block at a time, and
// removes the documents that other required lists do not have, then those that lack the phrases or do not match other
// groups.
//
// A group with one alternative in the segment requires its term, or all words of its phrase. If such a list is short,
// this costs far less than evaluating windows.
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

  // Returns true if this way is likely to be the cheaper one. `must` must not be empty.
  static bool IsWorthwhile(std::span<GroupEvaluator* const> must, uint32_t document_count);

  // The groups belong to this object while it lives. `all_matches`: find documents even if a bar rules them out.
  ConjunctionEvaluator(const PreparedQuery* query, const uint8_t* norms, Groups groups, bool with_scores,
                       bool all_matches);

  // Returns the next match >= target that the bar does not rule out; kNoDocument if there is none.
  uint32_t NextDocument(uint32_t target, float bar);

  // Returns the number of matching documents that are not deleted. Must not be mixed with the other methods.
  uint64_t Count(const DeletionSet& deletions);

  // Finds the next matches, at most a block; returns false if there are none. Must not be mixed with the other methods.
  bool NextMatches(float bar);
  std::span<const uint32_t> documents() const { return {documents_.data(), count_}; }
  std::span<const float> scores() const { return {scores_.data(), count_}; }

  // Adds the matches of the window and sets their scores. Windows must ascend.
  void Evaluate(Window* window, float bar);

 private:
  // A list that every match is in, with its postings of the current documents.
  struct Required {
    PostingCursor* cursor;
    alignas(64) std::array<uint32_t, kBlockSize> postings;
  };
  // A group and its required lists; for a phrase, by slot.
  struct Clause {
    GroupEvaluator* group;
    std::vector<uint32_t> required;  // empty: the group is looked up
    bool is_must;
    float others_bound;  // the most that all other groups add, the bonus included
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
  std::vector<Required> required_;  // shortest first
  std::vector<Clause> clauses_;     // in the order of scoring
  Clause* lead_ = nullptr;          // the clause of the shortest list
  uint32_t next_block_ = 0;         // of the shortest list
  std::vector<uint32_t> slot_postings_;
  size_t intersected_ = 0;   // number of lists whose postings are those of the current documents
  bool is_checked_ = false;  // true if the clauses have the frequencies of the current documents

  // The matches from next_ on have not been returned yet.
  alignas(64) std::array<uint32_t, kBlockSize> documents_;
  alignas(64) std::array<float, kBlockSize> scores_;
  uint32_t count_ = 0;
  uint32_t next_ = 0;
};

}  // namespace gannet
