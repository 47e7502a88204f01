// Which vectors of a segment lead to a live document that passes a filter, and to which.
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
  // Both outlive the object.
  LiveOrdinals(const Generation* generation, const VectorView* vectors);
  // From now on documents have to pass the filter, too.
  void Restrict(const FilterNode& filter);

  bool Has(uint32_t ordinal) const override { return Find(ordinal).has_value(); }
  uint32_t count() const override;
  void List(std::vector<uint32_t>* ordinals) const override;
  // A bit each.
  std::vector<uint64_t> Bits() const;

  // Asks for what Find looks at first.
  void Fetch(uint32_t ordinal) const {
    if (!words_.empty() && words_.front().homes != nullptr) words_.front().homes->Fetch(ordinal);
  }
  // Nothing where the vector is deleted, its record is, or the filter rules it out.
  std::optional<HomeOfVector> Find(uint32_t ordinal) const;

 private:
  struct Words {
    uint32_t segment;
    const SegmentView* view;
    std::shared_ptr<const HomesInSegment> homes;  // null: they are looked up
    std::vector<uint64_t> passing;                // a bit a document; empty: all pass
  };
  bool Passes(const Words& words, uint32_t document) const {
    return words.passing.empty() || (words.passing[document / 64] >> (document % 64) & 1) != 0;
  }

  const VectorView& vectors_;
  std::vector<Words> words_;  // the greatest first
  uint64_t live_ = 0;         // documents of the generation
  uint64_t passing_ = 0;      // of these, those that pass
};

// A bit each, the least significant first, set where a vector leads to no live document or is deleted itself: what a merge leaves out.
std::vector<uint8_t> FindDeadVectors(const Generation& generation, const VectorView& vectors);

}  // namespace gannet
