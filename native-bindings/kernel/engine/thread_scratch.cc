#include "thread_scratch.h"

namespace gannet {
namespace {

// Cursors are freed after a search that needed more than this number.
constexpr size_t kKeptCursorsMax = 1024;
// Scratches beyond this number of parts, which no list exceeds, are freed.
constexpr size_t kKeptPartsMax = 4;
// Memory of spans is freed if it has more numbers than this: some MiB.
constexpr size_t kKeptSpanNumbersMax = size_t{1} << 20;
// Limits for the tables of facets with very many values, and for very many facets.
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
