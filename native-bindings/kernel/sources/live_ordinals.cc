#include "live_ordinals.h"

#include <algorithm>

#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "passing_documents.h"

namespace gannet {

LiveOrdinals::LiveOrdinals(const Generation* generation, const VectorView* vectors)
    : vectors_(*vectors), live_(generation->live_count), passing_(generation->live_count) {
  for (uint32_t segment = 0; segment < generation->segments.size(); ++segment) {
    const SegmentView& view = generation->segments[segment];
    words_.push_back({segment, &view, vectors->homes->In(view.segment, *vectors->segment), {}});
  }
  std::ranges::stable_sort(words_, std::ranges::greater{}, [](const Words& words) { return words.view->segment->document_count(); });
}

void LiveOrdinals::Restrict(const FilterNode& filter) {
  passing_ = 0;
  for (Words& words : words_) {
    words.passing = FindPassing(*words.view, ColumnFilter(filter, *words.view->segment));
    for (const uint64_t word : words.passing) passing_ += static_cast<uint64_t>(__builtin_popcountll(word));
  }
}

// Estimates the number as if the records of this segment of vectors were typical of all. Deleted records are deleted as
// vectors, too, so a deletion is counted once, whether or not the segments of words have been merged since.
uint32_t LiveOrdinals::count() const {
  const uint64_t count = vectors_.segment->graph().count() - vectors_.deletions.deleted_count;
  return static_cast<uint32_t>(live_ == 0 ? 0 : std::min(count, (count * passing_ + live_ - 1) / live_));
}

std::optional<HomeOfVector> LiveOrdinals::Find(uint32_t ordinal) const {
  if (vectors_.deletions.deleted_count > 0 && vectors_.deletions.Contains(ordinal)) return std::nullopt;
  for (const Words& words : words_) {
    uint32_t document = kNoHome;
    if (words.homes != nullptr) {
      document = (*words.homes)[ordinal];
    } else {
      document = words.view->segment->FindDocument(vectors_.segment->graph().records()[ordinal]).value_or(kNoHome);
    }
    if (document == kNoHome || words.view->deletions.Contains(document)) continue;
    // A record is live in at most one segment.
    if (!Passes(words, document)) return std::nullopt;
    return HomeOfVector{words.segment, document};
  }
  return std::nullopt;
}

void LiveOrdinals::List(std::vector<uint32_t>* ordinals) const {
  for (const Words& words : words_) {
    const std::span<const uint32_t> records = words.view->segment->record_numbers();
    uint32_t near = 0;
    for (uint32_t document = 0; document < records.size(); ++document) {
      StopIfAskedAt(document);
      if (!words.passing.empty() && document % 64 == 0 && words.passing[document / 64] == 0) {
        document += 63;
        continue;
      }
      if (!Passes(words, document) || words.view->deletions.Contains(document)) continue;
      const auto [first, end] = vectors_.segment->OrdinalsOf(records[document], near);
      near = end;
      for (uint32_t ordinal = first; ordinal < end; ++ordinal) {
        if (!vectors_.deletions.Contains(ordinal)) ordinals->push_back(ordinal);
      }
    }
  }
}

std::vector<uint64_t> LiveOrdinals::Bits() const {
  std::vector<uint32_t> ordinals;
  List(&ordinals);
  std::vector<uint64_t> bits(vectors_.segment->graph().count() / 64 + 1);
  for (const uint32_t ordinal : ordinals) bits[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  return bits;
}

std::vector<uint8_t> FindDeadVectors(const Generation& generation, const VectorView& vectors) {
  const LiveOrdinals live(&generation, &vectors);
  const uint32_t count = vectors.segment->graph().count();
  std::vector<uint8_t> dead((size_t{count} + 7) / 8);
  for (uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    StopIfAskedAt(ordinal);
    if (!live.Has(ordinal)) dead[ordinal / 8] |= static_cast<uint8_t>(1u << ordinal % 8);
  }
  return dead;
}

}  // namespace gannet
