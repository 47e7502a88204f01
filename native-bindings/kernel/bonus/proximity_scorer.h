// Computes the bonus of a document for words of the query that are near each other in it, and for a field that is the
// whole query (plan.h).
//
// This is a second phase: positions are read only for the documents that may be among the best with the bonus. The
// bounds decide which documents are left out, so the result is the same as if every document were scored. (Rasolofo and
// Savoy 2003, "Term Proximity Scoring for Keyword-Based Retrieval Systems".)
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
  // Cursors are kept in `*cursors`, which belongs to the scorer while it lives.
  ProximityScorer(const PreparedQuery* query, std::vector<PostingCursor>* cursors);

  // True if no document can have a bonus.
  bool empty() const { return query_->pairs.empty() && query_->whole.matches.empty(); }
  // The most that the bonus can be: for any document, for any in this window, and for this document.
  float bound() const { return query_->pairs_bound_max + query_->whole.bound; }
  float BoundIn(uint32_t segment, WindowRange range) const;
  float BoundOf(uint32_t segment, uint32_t document) const;

  // Returns what is to be added to the score of the document. Cheapest if documents ascend within a segment. If the
  // bonus is below `needed`, the result may be less than the bonus.
  float Bonus(uint32_t segment, uint32_t document, float needed = 0);
  // Returns what a field that is the query adds to the bonus; it is added first.
  float WholeFieldBonus(uint32_t segment, uint32_t document) const;
  // Returns what one pair adds to the bonus.
  float PairBonus(uint32_t segment, uint32_t document, const PreparedPair& pair);

 private:
  struct Group {
    std::vector<uint32_t> terms;             // indexes into PreparedQuery::terms
    std::vector<PostingCursor*> cursors;     // of the terms that the segment has
    std::vector<PostingCursor*> present;     // if is_sought: those of `cursors` that have document_
    std::vector<uint32_t> positions;         // if is_read: positions in document_, ascending
    bool is_sought = false;
    bool is_read = false;
  };

  void MoveTo(uint32_t segment, uint32_t document);
  bool IsPresent(Group* group);
  const std::vector<uint32_t>& Positions(Group* group);
  // Returns the sum of weight units / distance, in 840ths.
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
