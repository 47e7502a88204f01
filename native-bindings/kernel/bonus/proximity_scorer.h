// The bonus of a document for words of the query that stand near each other in it, and for a field that is the whole
// query (plan.h).
//
// It is a second phase: positions are read for the documents that may be among the best with it, and for no other.
// What may be left out follows from the bounds, so the answer is that of scoring every document.
// (Rasolofo and Savoy 2003, "Term Proximity Scoring for Keyword-Based Retrieval Systems".)
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "../cursors/posting_cursor.h"
#include "../query/prepared_query.h"
#include "../window/window.h"

namespace gannet {

class ProximityScorer {
 public:
  // Cursors are kept in `*cursors`, which is the scorer's alone while it lives.
  ProximityScorer(const PreparedQuery* query, std::vector<PostingCursor>* cursors);

  // No document can have a bonus.
  bool empty() const { return query_->pairs.empty() && query_->whole.matches.empty(); }
  // The most that the bonus is: of any document, of any in this window, and of this document.
  float bound() const { return query_->pairs_bound_max + query_->whole.bound; }
  float BoundIn(uint32_t segment, WindowRange range) const;
  float BoundOf(uint32_t segment, uint32_t document) const;

  // To be added to the score of the document. Cheapest when documents ascend within a segment. Where it is below
  // `needed`, the result may be less.
  float Bonus(uint32_t segment, uint32_t document, float needed = 0);
  // What a field that is the query adds to it; first of all.
  float WholeFieldBonus(uint32_t segment, uint32_t document) const;
  // What one pair adds to it.
  float PairBonus(uint32_t segment, uint32_t document, const PreparedPair& pair);

 private:
  struct Group {
    std::vector<uint32_t> terms;             // indexes into PreparedQuery::terms
    std::vector<PostingCursor*> cursors;     // of the terms that the segment has
    std::vector<PostingCursor*> present;     // of those, the ones that have document_, if is_sought
    std::vector<uint32_t> positions;         // in document_, ascending, if is_read
    bool is_sought = false;
    bool is_read = false;
  };

  void MoveTo(uint32_t segment, uint32_t document);
  bool IsPresent(Group* group);
  const std::vector<uint32_t>& Positions(Group* group);
  // Sum of weight units / distance, in 840ths.
  uint64_t SumNearness(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right) const;

  const PreparedQuery* query_;
  std::vector<PostingCursor>* cursors_;
  std::vector<Group> groups_;  // by index into PreparedQuery::groups
  uint32_t segment_ = 0xffffffffu;
  uint32_t document_ = 0xffffffffu;
  const Segment* source_ = nullptr;
  std::vector<uint32_t> scratch_;
};

}  // namespace gannet
