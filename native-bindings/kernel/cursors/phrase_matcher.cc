#include "phrase_matcher.h"

#include <algorithm>
#include <utility>

namespace gannet {
namespace {

// Keeps the starts whose `offset`-th following position is in `positions`; both ascend.
void KeepFollowed(std::span<const uint32_t> positions, uint32_t offset, std::vector<uint32_t>* starts) {
  size_t kept = 0;
  size_t next = 0;
  for (const uint32_t start : *starts) {
    const uint64_t wanted = uint64_t{start} + offset;
    while (next < positions.size() && positions[next] < wanted) ++next;
    if (next == positions.size()) break;
    if (positions[next] == wanted) (*starts)[kept++] = start;
  }
  starts->resize(kept);
}

}  // namespace

PhraseMatcher::PhraseMatcher(const Segment* segment, std::vector<uint32_t> slots, std::span<PostingCursor> cursors)
    : segment_(segment), slots_(std::move(slots)), cursors_(cursors), postings_(cursors.size()), positions_(cursors.size()) {
  for (uint32_t slot = 0; slot < cursors_.size(); ++slot) {
    if (cursors_[slot].document_frequency() < cursors_[rarest_].document_frequency()) rarest_ = slot;
  }
  const auto& fields = segment->meta().text_fields;
  const bool uniform = std::all_of(fields.begin(), fields.end(), [&](const TextFieldMeta& field) {
    return field.weight_units == fields.front().weight_units;
  });
  if (uniform) uniform_weight_ = fields.empty() ? 1 : fields.front().weight_units;
}

uint32_t PhraseMatcher::NextDocument(uint32_t target) {
  uint32_t next = target;
  for (PostingCursor& cursor : cursors_) {
    next = std::max(next, cursor.NextDocument(next));
    if (next == kNoDocument) break;
  }
  return next;
}

uint32_t PhraseMatcher::NextDocumentBound(uint32_t target) {
  uint32_t next = target;
  for (PostingCursor& cursor : cursors_) {
    next = std::max(next, cursor.NextDocumentBound(next));
    if (next == kNoDocument) break;
  }
  return next;
}

float PhraseMatcher::Bound(WindowRange range, float weight, const float* saturation) {
  float bound = 1;
  for (PostingCursor& cursor : cursors_) bound = std::min(bound, cursor.Bound(range, weight, saturation));
  return bound;
}

uint32_t PhraseMatcher::Frequency(uint32_t document, bool any) {
  if (!cursors_[rarest_].Seek(document)) return 0;
  for (PostingCursor& cursor : cursors_) {
    if (!cursor.Seek(document)) return 0;
  }
  for (uint32_t slot = 0; slot < cursors_.size(); ++slot) postings_[slot] = cursors_[slot].posting();
  return FrequencyAt(document, postings_, any);
}

uint32_t PhraseMatcher::FrequencyAt(uint32_t document, std::span<const uint32_t> postings, bool any) {
  for (uint32_t slot = 0; slot < cursors_.size(); ++slot) positions_[slot] = cursors_[slot].PositionsOf(postings[slot]);
  // The word with the fewest occurrences proposes where the phrase may start; the others confirm.
  uint32_t proposer = 0;
  for (uint32_t i = 1; i < slots_.size(); ++i) {
    if (positions_[slots_[i]].size() < positions_[slots_[proposer]].size()) proposer = i;
  }
  starts_.clear();
  for (const uint32_t position : positions_[slots_[proposer]]) {
    if (position >= proposer) starts_.push_back(position - proposer);
  }
  for (uint32_t i = 0; i < slots_.size() && !starts_.empty(); ++i) {
    if (i != proposer) KeepFollowed(positions_[slots_[i]], i, &starts_);
  }
  if (starts_.empty() || any) return starts_.empty() ? 0 : 1;
  return WeighOccurrences(document);
}

uint32_t PhraseMatcher::WeighOccurrences(uint32_t document) const {
  if (uniform_weight_ != 0) return static_cast<uint32_t>(starts_.size()) * uniform_weight_;
  const auto& fields = segment_->meta().text_fields;
  const auto count = static_cast<uint32_t>(fields.size());
  uint32_t place = 0;  // the fields, and then the parts of the words of each (docs/formats.md, `L`)
  uint64_t end = segment_->FieldLength(0, document);
  uint32_t weight = 0;
  for (const uint32_t start : starts_) {
    while (start >= end && place + 1 < 2 * count) {
      ++place;
      // A gap of one position follows every field.
      if (place <= count) ++end;
      end += place < count ? segment_->FieldLength(place, document) : segment_->PartLength(place - count, document);
    }
    weight += fields[place % count].weight_units;
  }
  return weight;
}

}  // namespace gannet
