#include "span_union.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "../common/bits.h"
#include "simd.h"
#include "whole_field.h"

namespace gannet {
namespace {

// With more postings than this share of the documents, windows are the better way.
constexpr uint64_t kSparseShare = 8;
// Looking up one of many candidates costs about as much as gathering this many postings.
constexpr uint64_t kLookUpCostPostings = 6;
// With more groups, the table of bonuses would cost more than it saves.
constexpr size_t kTabledGroupsMax = 6;

template <typename T>
void EnsureSize(std::vector<T>* values, size_t size) {
  if (values->size() < size) values->resize(size);
}

}  // namespace

SpanUnion::SpanUnion(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
                     const UnionBounds* bounds, SpanScratch* scratch)
    : query_(query),
      segment_(segment),
      norms_(query->generation->segments[segment].segment->norms().data()),
      document_count_(query->generation->segments[segment].segment->document_count()),
      groups_(groups),
      bounds_(bounds),
      scratch_(*scratch),
      essential_(groups.size()) {
  const auto bit_of = [&](uint32_t index) -> uint64_t {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (&groups[i]->group() == &query->groups[index]) return uint64_t{1} << i;
    }
    return 0;
  };
  for (const PreparedPair& pair : query->pairs) {
    const uint64_t first = bit_of(pair.first);
    const uint64_t second = bit_of(pair.second);
    if (first != 0 && second != 0) pairs_.push_back({first | second, query->BonusBound(pair)});
  }
  if (!pairs_.empty() && groups.size() <= kTabledGroupsMax) {
    for (uint64_t present = 0; present < uint64_t{1} << groups.size(); ++present) {
      bonus_bounds_.push_back(SumBonusBounds(present));
    }
  }
  EnsureSize(&scratch_.slot_bits, size_t{kWindowsMax} * kWindowWords);
  EnsureSize(&scratch_.matches, size_t{kWindowsMax} * kWindowWords);
  EnsureSize(&scratch_.ranks, size_t{kWindowsMax} * kWindowWords);
}

WindowRange SpanUnion::Range(uint32_t first_window) const {
  constexpr uint32_t kFirstWindows = 4;
  const uint32_t windows = std::clamp(3 * first_window, kFirstWindows, kWindowsMax);
  const uint64_t end = uint64_t{first_window + windows} * kWindowSize;
  return {first_window * kWindowSize, static_cast<uint32_t>(std::min<uint64_t>(end, document_count_))};
}

bool SpanUnion::IsSparse(float bar) {
  essential_ = bounds_->Essential(essential_, bar);
  uint64_t postings = 0;
  for (size_t i = 0; i < essential_; ++i) postings += groups_[i]->cost();
  return postings * kSparseShare <= document_count_;
}

void SpanUnion::Match(WindowRange range, float bar, bool all_matches) {
  range_ = range;
  essential_ = bounds_->Essential(essential_, bar);
  uint64_t* slot_bits = scratch_.slot_bits.data();
  std::fill_n(slot_bits, WordCount(), 0);
  GatheredPostings& postings = scratch_.postings;
  postings.count = 0;
  gathered_ends_.clear();
  for (size_t i = 0; i < essential_; ++i) {
    groups_[i]->Gather(range, &postings);
    gathered_ends_.push_back(postings.count);
  }
  for (uint32_t i = 0; i < postings.count; ++i) {
    const uint32_t offset = postings.offsets[i];
    slot_bits[offset / 64] |= uint64_t{1} << (offset % 64);
  }
  // With its bonus, such a document may be a hit whatever its groups.
  for (const WholeFieldMatch& match : WholeFieldsIn(*query_, segment_, range)) {
    const uint32_t offset = match.document - range.base;
    slot_bits[offset / 64] |= uint64_t{1} << (offset % 64);
  }
  std::copy_n(slot_bits, WordCount(), scratch_.matches.data());
  if (!all_matches) return;
  const auto lesser = groups_.subspan(essential_);
  for (GroupEvaluator* group : lesser) group->MarkTerms(range, scratch_.matches.data());
  for (GroupEvaluator* group : lesser) group->MarkPhrases(range, scratch_.matches.data());
}

uint32_t SpanUnion::CountMatches() const { return CountBits(scratch_.matches.data(), WordCount()); }

void SpanUnion::LoadMatches(Window* window) const {
  const uint64_t* from = scratch_.matches.data() + (window->range.base - range_.base) / 64;
  const uint32_t words = (window->range.end - window->range.base + 63) / 64;
  window->matches.Clear();
  for (uint32_t word = 0; word < words; ++word) {
    window->matches.words[word] = from[word];
    window->matches.used |= uint64_t{from[word] != 0} << word;
  }
}

void SpanUnion::StoreMatches(const Window& window) {
  const uint32_t first = (window.range.base - range_.base) / 64;
  const uint32_t words = (window.range.end - window.range.base + 63) / 64;
  for (uint32_t word = 0; word < words; ++word) {
    scratch_.matches[first + word] = window.matches.words[word];
    scratch_.slot_bits[first + word] &= window.matches.words[word];
  }
}

std::span<const ScoredDocument> SpanUnion::Score(float bar) {
  if (NumberSlots() == 0) return {};
  ScoreEssentialGroups();
  ChooseCandidates(bar);
  for (size_t i = essential_; i < groups_.size() && !scratch_.candidates.empty(); ++i) {
    ScoreLesserGroup(static_cast<uint32_t>(i));
    KeepCandidates(i + 1, bar);
  }
  std::vector<ScoredDocument>& scored = scratch_.scored;
  scored.clear();
  for (const uint32_t slot : scratch_.candidates) {
    const float bonus = BonusBound(slot, 0) + (IsWhole(slot) ? query_->whole.bound : 0);
    scored.push_back({range_.base + scratch_.offsets[slot], scratch_.scores[slot], bonus * kBoundFactor});
  }
  return scored;
}

uint32_t SpanUnion::NumberSlots() {
  const uint64_t* bits = scratch_.slot_bits.data();
  uint32_t count = 0;
  for (uint32_t word = 0; word < WordCount(); ++word) {
    scratch_.ranks[word] = count;
    count += PopCount(bits[word]);
  }
  EnsureSize(&scratch_.offsets, count + 1);
  EnsureSize(&scratch_.norms, count + 1);
  EnsureSize(&scratch_.saturations, count + 1);
  EnsureSize(&scratch_.frequencies, count + 1);
  EnsureSize(&scratch_.scores, count + 1);
  EnsureSize(&scratch_.presence, count + 1);
  slot_count_ = count;
  const GatheredPostings& postings = scratch_.postings;
  NumberPostings();
  for (uint32_t i = 0; i < postings.count; ++i) scratch_.offsets[scratch_.slots[i]] = postings.offsets[i];
  whole_slots_.clear();
  for (const WholeFieldMatch& match : WholeFieldsIn(*query_, segment_, range_)) {
    const uint32_t offset = match.document - range_.base;
    uint32_t slot;
    FindSlots({bits, scratch_.ranks.data(), count}, {&offset, 1}, &slot);
    scratch_.offsets[slot] = offset;
    if (slot < count) whole_slots_.push_back(slot);
  }
  const uint8_t* norms = norms_ + range_.base;
  for (uint32_t i = 0; i < count; ++i) {
    scratch_.norms[i] = norms[scratch_.offsets[i]];
    scratch_.saturations[i] = query_->saturation[scratch_.norms[i]];
  }
  std::fill_n(scratch_.scores.data(), count, 0.0f);
  std::fill_n(scratch_.presence.data(), count, 0);
  return count;
}

void SpanUnion::NumberPostings() {
  const GatheredPostings& postings = scratch_.postings;
  EnsureSize(&scratch_.slots, postings.count);
  FindSlots({scratch_.slot_bits.data(), scratch_.ranks.data(), slot_count_}, {postings.offsets.data(), postings.count},
            scratch_.slots.data());
}

// Frequencies of a group by slot, of the gathered postings [begin, end).
void SpanUnion::SumFrequencies(uint32_t begin, uint32_t end) {
  float* sums = scratch_.frequencies.data();
  std::fill_n(sums, slot_count_, 0.0f);
  const uint32_t* slots = scratch_.slots.data();
  const float* frequencies = scratch_.postings.frequencies.data();
  for (uint32_t i = begin; i < end; ++i) sums[slots[i]] += frequencies[i];
}

void SpanUnion::ScoreEssentialGroups() {
  uint32_t begin = 0;
  for (uint32_t i = 0; i < essential_; ++i) {
    const uint32_t end = gathered_ends_[i];
    if (begin == end) continue;
    SumFrequencies(begin, end);
    begin = end;
    ScoreGathered(i);
  }
}

void SpanUnion::ScoreGathered(uint32_t group) {
  const float weight = groups_[group]->group().weight;
  const float* frequencies = scratch_.frequencies.data();
  const float* saturations = scratch_.saturations.data();
  float* scores = scratch_.scores.data();
  for (uint32_t slot = 0; slot < slot_count_; ++slot) {
    scores[slot] += Contribution(frequencies[slot], saturations[slot], weight);
  }
  if (pairs_.empty()) return;
  uint64_t* presence = scratch_.presence.data();
  for (uint32_t slot = 0; slot < slot_count_; ++slot) presence[slot] |= uint64_t{frequencies[slot] > 0} << group;
}

bool SpanUnion::IsCheaperGathered(const GroupEvaluator& group) const {
  const uint64_t postings = group.cost() * (range_.end - range_.base) / document_count_;
  return scratch_.candidates.size() * group.alternative_count() * kLookUpCostPostings > postings;
}

void SpanUnion::ScoreLesserGroup(uint32_t index) {
  GroupEvaluator& group = *groups_[index];
  const std::vector<uint32_t>& candidates = scratch_.candidates;
  EnsureSize(&scratch_.found, candidates.size());
  float* found = scratch_.found.data();
  if (IsCheaperGathered(group)) {
    GatheredPostings& postings = scratch_.postings;
    postings.count = 0;
    group.Gather(range_, &postings);
    NumberPostings();
    SumFrequencies(0, postings.count);
    for (size_t i = 0; i < candidates.size(); ++i) found[i] = scratch_.frequencies[candidates[i]];
  } else {
    EnsureSize(&scratch_.documents, candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      scratch_.documents[i] = range_.base + scratch_.offsets[candidates[i]];
    }
    group.LookUp({scratch_.documents.data(), candidates.size()}, &scratch_.look_up, found);
  }
  const float weight = group.group().weight;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint32_t slot = candidates[i];
    scratch_.scores[slot] += Contribution(found[i], scratch_.saturations[slot], weight);
    scratch_.presence[slot] |= uint64_t{found[i] > 0} << index;
  }
}

// Of all slots, once the essential groups are scored.
void SpanUnion::ChooseCandidates(float bar) {
  std::vector<uint32_t>& candidates = scratch_.candidates;
  candidates.resize(slot_count_ + 1);
  const float least = bar * kBarFactor - bounds_->GroupsFrom(essential_) - query_->pairs_bound_max;
  const float* scores = scratch_.scores.data();
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < slot_count_; ++slot) {
    candidates[count] = slot;
    count += scores[slot] >= least;
  }
  candidates.resize(count);
  if (!whole_slots_.empty()) {
    const auto middle = static_cast<ptrdiff_t>(count);
    candidates.insert(candidates.end(), whole_slots_.begin(), whole_slots_.end());
    std::inplace_merge(candidates.begin(), candidates.begin() + middle, candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }
  KeepCandidates(essential_, bar);
}

// Those that still may reach the bar, so many groups being scored.
void SpanUnion::KeepCandidates(size_t scored_groups, float bar) {
  if (bar <= 0) return;
  // What is compared has been rounded on other ways than the bar.
  const bool is_final = scored_groups == groups_.size() && pairs_.empty();
  const float least = is_final ? bar : bar * kBarFactor - bounds_->GroupsFrom(scored_groups);
  const uint64_t unknown = scored_groups < kGroupsMax ? ~uint64_t{0} << scored_groups : 0;
  std::vector<uint32_t>& candidates = scratch_.candidates;
  uint32_t count = 0;
  for (const uint32_t slot : candidates) {
    const bool is_kept = scratch_.scores[slot] + BonusBound(slot, unknown) >= least || IsWhole(slot);
    candidates[count] = slot;
    count += is_kept;
  }
  candidates.resize(count);
}

// The most that pairs add to a score, if the document has these groups beside those that it is known to have.
float SpanUnion::BonusBound(uint32_t slot, uint64_t groups) const {
  if (pairs_.empty()) return 0;
  const uint64_t present = scratch_.presence[slot] | groups;
  float sum = 0;
  if (!bonus_bounds_.empty()) {
    sum = bonus_bounds_[present % bonus_bounds_.size()];
  } else {
    sum = SumBonusBounds(present);
  }
  return std::min(sum, query_->pairs_bound[scratch_.norms[slot]]);
}

float SpanUnion::SumBonusBounds(uint64_t groups) const {
  float sum = 0;
  for (const Pair& pair : pairs_) {
    if ((groups & pair.groups) == pair.groups) sum += pair.bound;
  }
  return sum;
}

bool SpanUnion::IsWhole(uint32_t slot) const {
  return !whole_slots_.empty() && std::ranges::binary_search(whole_slots_, slot);
}

}  // namespace gannet
