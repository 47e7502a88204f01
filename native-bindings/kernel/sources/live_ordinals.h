// Maps the vectors of a segment to live documents that pass a filter.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../vectors/vector_search.h"

namespace gannet {

struct HomeOfVector {
  uint32_t segment;
  uint32_t document;
};

class LiveOrdinals : public vectors::OrdinalFilter {
 public:
  // Both arguments must outlive the object.
  LiveOrdinals(const Generation* generation, const VectorView* vectors);
  // From now on, documents must also pass the filter.
  void Restrict(const FilterNode& filter);

  bool Has(uint32_t ordinal) const override { return Find(ordinal).has_value(); }
  uint32_t count() const override;
  void List(std::vector<uint32_t>* ordinals) const override;
  // One bit per ordinal.
  std::vector<uint64_t> Bits() const;

  // Prefetches what Find reads first.
  void Fetch(uint32_t ordinal) const {
    if (!words_.empty() && words_.front().homes != nullptr) words_.front().homes->Fetch(ordinal);
  }
  // Returns nothing if the vector or its record is deleted, or the filter rules it out.
  std::optional<HomeOfVector> Find(uint32_t ordinal) const;

 private:
  struct Words {
    uint32_t segment;
    const SegmentView* view;
    std::shared_ptr<const HomesInSegment> homes;  // null: records are looked up one by one
    std::vector<uint64_t> passing;                // one bit per document; empty if all pass
  };
  bool Passes(const Words& words, uint32_t document) const {
    return words.passing.empty() || (words.passing[document / 64] >> (document % 64) & 1) != 0;
  }

  const VectorView& vectors_;
  std::vector<Words> words_;  // the largest segment first
  uint64_t live_ = 0;         // live documents of the generation
  uint64_t passing_ = 0;      // those of them that pass
};

// Returns one bit per vector, the least significant first, set if the vector is deleted or leads to no live document:
// these are left out by a merge.
std::vector<uint8_t> FindDeadVectors(const Generation& generation, const VectorView& vectors);

}  // namespace gannet
