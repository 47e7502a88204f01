// Finds the documents of a span that may reach the bar in a union of single terms, and scores only these.
//
// The essential lists (MAXSCORE) are processed from last to first. What this list and those after it add to a document,
// plus at most the bounds of the lesser groups, must reach the bar. Bit sets show which of the lists after it have the
// document, and the rank of its bit is the index of its posting. The first list that has a document knows all others
// that have it, so no document is missed. Most postings only have to be decoded, weighed and compared. The few
// remaining documents are looked up in the lesser groups. (docs/decisions/0036)
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../cursors/document_lookup.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "../window/span_scratch.h"
#include "../window/window.h"
#include "union_bounds.h"

namespace gannet {

class UnionSieve {
 public:
  // Returns true if all groups are single terms and the query has no bonus.
  static bool CanTake(const PreparedQuery& query, std::span<GroupEvaluator* const> groups);

  // `groups` are in the order of scoring. All arguments must outlive the object.
  UnionSieve(const PreparedQuery* query, const uint8_t* norms,
             std::span<GroupEvaluator* const> groups, const UnionBounds* bounds, SpanScratch* scratch);

  // Returns, in the order of documents, those of the range that reach the bar, which must be above zero; no document
  // that has none of the first `essential` groups may reach it. If `allowed` (a bit per document of the range) is not
  // null, only documents whose bit is set are returned. Valid until the next call; ranges must ascend.
  std::span<const ScoredDocument> Score(WindowRange range, size_t essential, float bar, const uint64_t* allowed);

 private:
  // Postings of a weighed group in the range, in the order of documents, and their documents as bits.
  struct List {
    std::span<const uint32_t> offsets;
    std::span<const float> contributions;
    Slots places;  // without bits for the first group, in which nothing is looked up
  };

  void Weigh(WindowRange range, size_t essential, float least);
  bool IsCheaperWeighed(size_t group, WindowRange range);
  const uint64_t* BitsBehind(size_t group);
  Slots Number(const List& list, size_t index);
  void WipeBits();
  uint64_t* BitsOf(size_t index) const { return sieve_.bits.data() + index * words_; }
  void Choose(size_t group, float least, float least_with_others);
  void AddOthers(size_t group, float least);
  void MergeAdded();
  void AddLesser(size_t group, WindowRange range, float least);

  const PreparedQuery* query_;
  const uint8_t* norms_;
  std::span<GroupEvaluator* const> groups_;
  const UnionBounds* bounds_;
  SpanScratch& scratch_;
  SieveScratch& sieve_;
  std::vector<float> looked_up_;  // by group: the share of the essential postings that is looked up in it
  // State of the span.
  std::vector<uint32_t> ends_;  // ends of the lists among the gathered postings
  std::vector<List> lists_;     // of the groups that are weighed
  uint32_t essential_postings_ = 0;
  size_t others_from_ = 0;  // sieve_.others are the bits of the groups from this one on
  uint32_t words_ = 0;      // number of words of the range's bits
  uint32_t chosen_count_ = 0;
};

}  // namespace gannet
