#include "thread_scratch.h"

namespace gannet {
namespace {

// Cursors above this number are given back to the system after the search that needed them.
constexpr size_t kKeptCursorsMax = 1024;
// Of a search of more parts than any list has, too.
constexpr size_t kKeptPartsMax = 4;
// And so is the memory of spans with more numbers than this: some MiB.
constexpr size_t kKeptSpanNumbersMax = size_t{1} << 20;
// Of facets of very many values, and of very many facets.
constexpr size_t kKeptFacetCountsMax = size_t{1} << 16;
constexpr size_t kKeptFacetsMax = 16;

std::unique_ptr<ThreadScratch>& ScratchOfThread() {
  static thread_local std::unique_ptr<ThreadScratch> scratch;
  return scratch;
}

}  // namespace

ScratchLease::ScratchLease() : scratch_(ScratchOfThread()) {
  if (!scratch_) scratch_ = std::make_unique<ThreadScratch>();
}

ScratchLease::~ScratchLease() {
  if (!returned_) scratch_.reset();
}

void ScratchLease::Return() {
  const auto bound = [](std::vector<PostingCursor>* cursors) {
    if (cursors->size() > kKeptCursorsMax) std::vector<PostingCursor>().swap(*cursors);
  };
  for (auto* cursors : {&scratch_->matching.cursors, &scratch_->scoring.cursors, &scratch_->proximity}) bound(cursors);
  if (scratch_->proximity_in_parts.size() > kKeptPartsMax) scratch_->proximity_in_parts.resize(kKeptPartsMax);
  for (std::vector<PostingCursor>& cursors : scratch_->proximity_in_parts) bound(&cursors);
  SpanScratch& span = scratch_->matching.span;
  if (span.postings.offsets.size() + span.frequencies.size() > kKeptSpanNumbersMax) span = SpanScratch();
  std::vector<FacetCounter::Table>& facets = scratch_->facets;
  if (facets.size() > kKeptFacetsMax) facets.resize(kKeptFacetsMax);
  for (FacetCounter::Table& table : facets) {
    if (table.size() > kKeptFacetCountsMax) FacetCounter::Table().swap(table);
  }
  returned_ = true;
}

}  // namespace gannet
