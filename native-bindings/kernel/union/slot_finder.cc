#include "slot_finder.h"

#include <algorithm>
#include <limits>

#include "../bonus/whole_field.h"
#include "../common/bits.h"
#include "../common/simd.h"
#include "../window/contributions.h"

namespace gannet {
namespace {

void SetBit(uint64_t* bits, uint32_t place) { bits[place / 64] |= uint64_t{1} << (place % 64); }

}  // namespace

SlotFinder::SlotFinder(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
                       const UnionBounds* bounds, SpanScratch* scratch)
    : query_(query),
      segment_(segment),
      norms_(query->generation->segments[segment].segment->norms().data()),
      groups_(groups),
      bounds_(bounds),
      scratch_(*scratch) {}

void SlotFinder::Begin(WindowRange range, size_t essential, float bar, bool all_matches) {
  range_ = range;
  essential_ = essential;
  marked_end_ = MarkedEnd(all_matches, bar);
  // Compared values were rounded differently from the bar.
  const float unknown = bounds_->GroupsFrom(marked_end_) + (marked_end_ < groups_.size() ? query_->pairs_bound_max : 0);
  least_ = bar > 0 ? bar * kBarFactor - unknown : 0;
  for (auto* bits : {&scratch_.slot_bits, &scratch_.shared_bits}) {
    EnsureSize(bits, WordCount());
    std::fill_n(bits->data(), WordCount(), 0);
  }
  EnsureSize(&scratch_.lesser_bits, WordCount());
  scratch_.postings.count = 0;
  scratch_.postings.bare.clear();
  parts_.assign(essential, {});
  for (size_t group = 0; group < essential; ++group) GatherGroup(group);
  MarkWholeFields();
  if (marked_end_ > essential) std::fill_n(scratch_.lesser_bits.data(), WordCount(), 0);
  for (size_t group = essential; group < marked_end_; ++group) {
    groups_[group]->MarkTerms(range, scratch_.lesser_bits.data());
  }
}

// Lesser groups are marked if all matches are wanted, or if that costs less than looking up most slots in them. Groups
// with phrases are not marked, because it is expensive to know whether a document has a phrase.
size_t SlotFinder::MarkedEnd(bool all_matches, float bar) const {
  uint64_t postings = 0;
  for (size_t group = 0; group < essential_; ++group) postings += groups_[group]->CostIn(range_);
  size_t end = essential_;
  while (end < groups_.size() && !groups_[end]->has_phrases() &&
         (all_matches || (bar > 0 && groups_[end]->IsCheaperGathered(range_, postings)))) {
    ++end;
  }
  return end;
}

// A document that has several alternatives of the group may reach the bar by all of them together.
void SlotFinder::GatherGroup(size_t group) {
  GatheredPostings& postings = scratch_.postings;
  parts_[group].begin = postings.count;
  groups_[group]->Gather(range_, least_, &postings);
  parts_[group].end = postings.count;
  uint64_t* slots = scratch_.slot_bits.data();
  uint64_t* shared = scratch_.shared_bits.data();
  for (uint32_t i = parts_[group].begin; i < postings.count; ++i) {
    const uint32_t word = postings.offsets[i] / 64;
    const uint64_t bit = uint64_t{1} << (postings.offsets[i] % 64);
    shared[word] |= slots[word] & bit;
    slots[word] |= bit;
  }
}

// With its bonus, such a document may be a hit whatever its groups add.
void SlotFinder::MarkWholeFields() {
  for (const WholeFieldMatch& match : WholeFieldsIn(*query_, segment_, range_)) {
    SetBit(scratch_.slot_bits.data(), match.document - range_.base);
    SetBit(scratch_.shared_bits.data(), match.document - range_.base);
  }
}

void SlotFinder::AddMatches(uint64_t* matches) {
  std::copy_n(scratch_.slot_bits.data(), WordCount(), matches);
  if (marked_end_ > essential_) {
    // A separate loop over local pointers, which the compiler can vectorise.
    const uint64_t* lesser = scratch_.lesser_bits.data();
    const uint32_t words = WordCount();
    for (uint32_t word = 0; word < words; ++word) matches[word] |= lesser[word];
  }
  for (size_t group = marked_end_; group < groups_.size(); ++group) groups_[group]->MarkTerms(range_, matches);
  for (size_t group = marked_end_; group < groups_.size(); ++group) groups_[group]->MarkPhrases(range_, matches);
}

void SlotFinder::LeaveOutLone() {
  if (least_ <= 0) return;
  uint64_t* shared = scratch_.shared_bits.data();
  const uint64_t* slots = scratch_.slot_bits.data();
  const uint64_t* lesser = scratch_.lesser_bits.data();
  const uint32_t words = WordCount();
  if (marked_end_ > essential_) {
    for (uint32_t word = 0; word < words; ++word) shared[word] = (shared[word] | lesser[word]) & slots[word];
  } else {
    for (uint32_t word = 0; word < words; ++word) shared[word] &= slots[word];
  }
  uint32_t count = 0;
  next_bare_ = 0;
  for (size_t group = 0; group < essential_; ++group) count = KeepPostings(group, count);
  scratch_.postings.count = count;
  scratch_.slot_bits.swap(scratch_.shared_bits);
}

// Moves to the index `to` the group's postings of documents that also have others, and those that reach the bar alone.
// The latter's documents are added to the shared ones, which does not change the groups that follow, because they do
// not have these documents. Returns the index after the moved postings.
uint32_t SlotFinder::KeepPostings(size_t group, uint32_t to) {
  const auto [begin, end] = parts_[group];
  EnsureSize(&scratch_.places, end - begin + kVectorPadding);
  const FrequencyBar bar = LeastFrequencies(groups_[group]->group().weight);
  const std::vector<BareRun>& bare = scratch_.postings.bare;
  parts_[group].begin = to;
  uint32_t from = begin;
  for (; next_bare_ < bare.size() && bare[next_bare_].begin < end; ++next_bare_) {
    to = KeepReaching({from, bare[next_bare_].begin}, bar, to);
    to = KeepShared(bare[next_bare_], to);
    from = bare[next_bare_].end;
  }
  to = KeepReaching({from, end}, bar, to);
  parts_[group].end = to;
  return to;
}

uint32_t SlotFinder::KeepReaching(Part from, const FrequencyBar& bar, uint32_t to) {
  if (from.begin == from.end) return to;
  GatheredPostings& postings = scratch_.postings;
  uint64_t* shared = scratch_.shared_bits.data();
  const uint32_t* places = scratch_.places.data();
  const uint32_t found =
      SelectReaching(postings.frequencies.data() + from.begin, postings.offsets.data() + from.begin, from.end - from.begin,
                     norms_ + range_.base, bar, shared, scratch_.places.data());
  for (uint32_t i = 0; i < found; ++i) {
    const uint32_t offset = postings.offsets[from.begin + places[i]];
    if (!HasBit(scratch_.slot_bits.data(), offset)) continue;
    SetBit(shared, offset);
    postings.offsets[to] = offset;
    postings.frequencies[to++] = postings.frequencies[from.begin + places[i]];
  }
  return to;
}

uint32_t SlotFinder::KeepShared(const BareRun& run, uint32_t to) {
  GatheredPostings& postings = scratch_.postings;
  const uint32_t* offsets = postings.offsets.data() + run.begin;
  const uint32_t* places = scratch_.places.data();
  const uint32_t found = SelectMarked(offsets, run.end - run.begin, 0, scratch_.shared_bits.data(), scratch_.places.data());
  if (found == 0) return to;
  const uint32_t* frequencies = run.cursor->FrequenciesOf(run.block) + run.first;
  for (uint32_t i = 0; i < found; ++i) {
    postings.frequencies[to] = run.weight * FrequencyToFloat(frequencies[places[i]]);
    postings.offsets[to++] = offsets[places[i]];
  }
  return to;
}

// Returns the frequencies that a group of this weight must have in a document for its contribution to be least_.
FrequencyBar SlotFinder::LeastFrequencies(float weight) const {
  // In doubles: near the weight, which no contribution reaches, the difference has few digits.
  constexpr double kRounding = 1 - 1e-6;
  const double factor = least_ < weight ? kRounding * double{least_} / (double{weight} - double{least_})
                                        : std::numeric_limits<double>::infinity();
  FrequencyBar bar;
  for (size_t code = 0; code < bar.by_norm.size(); ++code) {
    bar.by_norm[code] = static_cast<float>(query_->saturation[code] * factor);
  }
  bar.least = *std::ranges::min_element(bar.by_norm);
  return bar;
}

}  // namespace gannet
