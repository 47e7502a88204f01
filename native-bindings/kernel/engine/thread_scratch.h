// What a thread keeps for its searches, so that they need not ask the system for memory.
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

// Two, because hits in the order of a column are matched without scores, and scored late by a second evaluator.
struct ThreadScratch {
  EvaluatorScratch matching;
  EvaluatorScratch scoring;
  std::vector<PostingCursor> proximity;
  std::deque<std::vector<PostingCursor>> proximity_in_parts;  // each for one part of a search; they stay where they are
  std::vector<FacetCounter::Table> facets;
  vectors::VectorSearcher vectors;  // a mark for each node of the largest graph
};

// The scratch of this thread for the time of one search. Its arrays are zero between searches (window.h), which an
// error half-way through would leave untrue: then the scratch is dropped and the next search makes a new one.
class ScratchLease {
 public:
  ScratchLease();
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  ThreadScratch& operator*() const { return *scratch_; }

  // The search has ended as it should.
  void Return();

 private:
  std::unique_ptr<ThreadScratch>& scratch_;
  bool returned_ = false;
};

}  // namespace gannet
