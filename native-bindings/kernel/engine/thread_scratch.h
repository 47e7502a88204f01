// Working memory that a thread keeps between searches, so that a search need not allocate it.
//
// Thread-safety: each thread has its own.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "../collect/facet_counter.h"
#include "../cursors/posting_cursor.h"
#include "../match/group_evaluator.h"
#include "../vectors/vector_search.h"

namespace gannet {

// There are two evaluator scratches because hits sorted by a column are matched without scores, and scored later by a
// second evaluator.
struct ThreadScratch {
  EvaluatorScratch matching;
  EvaluatorScratch scoring;
  std::vector<PostingCursor> proximity;
  // one for each part of a search; a deque, so that they never move
  std::deque<std::vector<PostingCursor>> proximity_in_parts;
  std::vector<FacetCounter::Table> facets;
  vectors::VectorSearcher vectors;  // has one bit per node of the largest graph
};

// Holds the scratch of this thread during one search. The arrays must be zero between searches (window.h). A search
// that throws may leave them dirty: the scratch is then dropped, and the next search makes a new one.
class ScratchLease {
 public:
  ScratchLease();
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  ThreadScratch& operator*() const { return *scratch_; }

  // To be called when the search has ended without an error.
  void Return();

 private:
  std::unique_ptr<ThreadScratch>& scratch_;
  bool returned_ = false;
};

}  // namespace gannet
