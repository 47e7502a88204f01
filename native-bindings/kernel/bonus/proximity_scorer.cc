#include "proximity_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../window/contributions.h"
#include "whole_field.h"

namespace gannet {
namespace {

// Divisible by every distance up to kProximityDistanceMax, so that sums are exact in any order.
constexpr uint32_t kNearnessUnit = 840;
static_assert(kProximityDistanceMax == 8, "the unit has to be a common multiple of all distances");

}  // namespace

ProximityScorer::ProximityScorer(const PreparedQuery* query, std::vector<PostingCursor>* cursors)
    : query_(query), cursors_(cursors), groups_(query->pairs.empty() ? 0 : query->groups.size()) {
  size_t cursor_count = 0;
  for (const PreparedPair& pair : query->pairs) {
    for (const uint32_t index : {pair.first, pair.second}) {
      if (!groups_[index].terms.empty()) continue;
      groups_[index].terms = query->groups[index].sequence_terms;
      cursor_count += groups_[index].terms.size();
    }
  }
  if (cursors_->size() < cursor_count) cursors_->resize(cursor_count);
}

float ProximityScorer::BoundOf(uint32_t segment, uint32_t document) const {
  const float pairs = query_->pairs_bound[query_->generation->segments[segment].segment->norms()[document]];
  // The sum is rounded once more than the bonus itself.
  const float whole = WholeFieldBonus(segment, document);
  return whole > 0 ? std::nextafter(pairs + whole, std::numeric_limits<float>::infinity()) : pairs;
}

float ProximityScorer::BoundIn(uint32_t segment, WindowRange range) const {
  return query_->pairs_bound_max + (HasWholeField(*query_, segment, range) ? query_->whole.bound : 0);
}

void ProximityScorer::MoveTo(uint32_t segment, uint32_t document) {
  if (segment != segment_) {
    segment_ = segment;
    document_ = kNoDocument;
    source_ = query_->generation->segments[segment].segment.get();
    PostingCursor* next = cursors_->data();
    for (Group& group : groups_) {
      group.cursors.clear();
      for (const uint32_t term : group.terms) {
        const PostingList& list = query_->terms[term].lists[segment];
        if (list.document_frequency() == 0) continue;
        next->Reset(&list);
        group.cursors.push_back(next++);
      }
    }
  }
  if (document != document_) {
    document_ = document;
    for (Group& group : groups_) group.is_sought = group.is_read = false;
  }
}

bool ProximityScorer::IsPresent(Group* group) {
  if (group->is_sought) return !group->present.empty();
  group->is_sought = true;
  group->present.clear();
  for (PostingCursor* cursor : group->cursors) {
    if (cursor->Seek(document_)) group->present.push_back(cursor);
  }
  return !group->present.empty();
}

const std::vector<uint32_t>& ProximityScorer::Positions(Group* group) {
  if (group->is_read) return group->positions;
  group->is_read = true;
  group->positions.clear();
  for (PostingCursor* cursor : group->present) {
    cursor->DecodePositions(&scratch_);
    const auto middle = static_cast<ptrdiff_t>(group->positions.size());
    group->positions.insert(group->positions.end(), scratch_.begin(), scratch_.end());
    std::inplace_merge(group->positions.begin(), group->positions.begin() + middle, group->positions.end());
  }
  return group->positions;
}

uint64_t ProximityScorer::SumNearness(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right) const {
  const auto& fields = source_->meta().text_fields;
  uint64_t sum = 0;
  size_t first = 0;
  uint32_t field = 0;
  uint64_t field_begin = 0;
  uint64_t field_end = source_->FieldLength(0, document_);  // A gap of one position follows every field.
  for (const uint32_t position : left) {
    while (position >= field_end && field + 1 < fields.size()) {
      ++field;
      field_begin = field_end + 1;
      field_end = field_begin + source_->FieldLength(field, document_);
    }
    const uint64_t low = std::max<uint64_t>(field_begin, position - std::min(position, kProximityDistanceMax));
    const uint64_t high = std::min<uint64_t>(field_end, uint64_t{position} + kProximityDistanceMax + 1);
    while (first < right.size() && right[first] < low) ++first;
    for (size_t i = first; i < right.size() && right[i] < high; ++i) {
      const uint32_t distance = right[i] > position ? right[i] - position : position - right[i];
      if (distance > 0) sum += uint64_t{fields[field].weight_units} * (kNearnessUnit / distance);
    }
  }
  return sum;
}

float ProximityScorer::PairBonus(uint32_t segment, uint32_t document, const PreparedPair& pair) {
  MoveTo(segment, document);
  Group& first = groups_[pair.first];
  Group& second = groups_[pair.second];
  if (!IsPresent(&first) || !IsPresent(&second)) return 0;
  const uint64_t sum = SumNearness(Positions(&first), Positions(&second));
  if (sum == 0) return 0;
  const auto nearness = static_cast<float>(static_cast<double>(sum) / kNearnessUnit);
  return Contribution(nearness, query_->saturation[source_->norms()[document]], pair.weight);
}

float ProximityScorer::WholeFieldBonus(uint32_t segment, uint32_t document) const {
  const PreparedWhole& whole = query_->whole;
  if (whole.matches.empty()) return 0;
  const std::vector<WholeFieldMatch>& matches = *whole.matches[segment];
  const auto found = std::ranges::lower_bound(matches, document, {}, &WholeFieldMatch::document);
  if (found == matches.end() || found->document != document) return 0;
  const uint8_t norm = query_->generation->segments[segment].segment->norms()[document];
  return Contribution(FrequencyToFloat(found->units), query_->saturation[norm], whole.weight);
}

float ProximityScorer::Bonus(uint32_t segment, uint32_t document, float needed) {
  float bonus = WholeFieldBonus(segment, document);
  for (const PreparedPair& pair : query_->pairs) {
    if (bonus + pair.rest_bound < needed) break;
    bonus += PairBonus(segment, document, pair);
  }
  return bonus;
}

}  // namespace gannet
