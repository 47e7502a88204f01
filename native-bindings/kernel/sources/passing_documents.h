// Finds the live documents of the fields that pass a filter and have no word that the query excludes, whatever source
// finds them.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../filter/column_filter.h"
#include "../generation/generation.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"

namespace gannet {

// Returns one bit per document, in whole windows.
std::vector<uint64_t> FindPassing(const SegmentView& view, const ColumnFilter& filter);

class PassingDocuments {
 public:
  // Both arguments must outlive the object.
  PassingDocuments(const Generation* generation, const QueryPlan& plan);

  // True if nothing is filtered or excluded.
  bool passes_all_that_live() const { return filter_.op == FilterOp::kAll && excluding_.groups.empty(); }
  // Returns one bit per document of the segment, in whole windows.
  std::vector<uint64_t> In(uint32_t segment) const;

 private:
  const Generation& generation_;
  const FilterNode& filter_;
  QueryPlan excluding_;  // words that no match may have
  PreparedQuery query_;
};

}  // namespace gannet
