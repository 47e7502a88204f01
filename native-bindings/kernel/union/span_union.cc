#include "span_union.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "../bonus/whole_field.h"
#include "../common/bits.h"
#include "../cursors/document_lookup.h"
#include "../window/contributions.h"

namespace gannet {
namespace {

// Least weight of longer words, however many a document has: together they may count less than one occurrence.
constexpr float kLeastJoinedWeight = 1e-9f;

// If there are more postings than this share of the documents, evaluating windows is faster.
constexpr uint64_t kSparseShare = 8;

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
      finder_(query, segment, groups, bounds, scratch),
      essential_(groups.size()) {
  const auto place_of = [&](uint32_t index) {
    const auto is_it = [&](const GroupEvaluator* group) { return &group->group() == &query->groups[index]; };
    return static_cast<size_t>(std::ranges::find_if(groups, is_it) - groups.begin());
  };
  for (const PreparedPair& pair : query->pairs) {
    const auto [first, second] = std::minmax({place_of(pair.first), place_of(pair.second)});
    if (second == groups.size()) continue;
    const float units = LeastWeight(groups[first]->group()) * LeastWeight(groups[second]->group()) * LeastUnits();
    pairs_.push_back({first, second, 1 / units, pair.weight, query->BonusBound(pair)});
  }
  if (UnionSieve::CanTake(*query, groups)) {
    sieve_ = std::make_unique<UnionSieve>(query, norms_, groups, bounds, scratch);
  }
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
  bar_ = bar;
  // Without a bar, every document would be a candidate.
  is_sieved_ = sieve_ != nullptr && bar > 0;
  return postings * kSparseShare <= document_count_;
}

void SpanUnion::Match(WindowRange range, bool needs_matches, bool all_matches) {
  range_ = range;
  has_matches_ = needs_matches;
  if (is_sieved_) {
    if (!needs_matches) return;
    std::fill_n(scratch_.matches.data(), WordCount(), 0);
    MarkMatches(all_matches ? groups_.size() : essential_);
    return;
  }
  finder_.Begin(range, essential_, bar_, all_matches);
  if (!needs_matches) return;
  if (all_matches) {
    finder_.AddMatches(scratch_.matches.data());
  } else {
    std::copy_n(scratch_.slot_bits.data(), WordCount(), scratch_.matches.data());
  }
}

void SpanUnion::MarkMatches(size_t end) {
  const auto groups = groups_.first(end);
  for (GroupEvaluator* group : groups) group->MarkTerms(range_, scratch_.matches.data());
  for (GroupEvaluator* group : groups) group->MarkPhrases(range_, scratch_.matches.data());
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
    if (!is_sieved_) scratch_.slot_bits[first + word] &= window.matches.words[word];
  }
}

void SpanUnion::RemoveMatches(WindowRange window, const uint64_t* documents) {
  const uint32_t first = (window.base - range_.base) / 64;
  const uint32_t words = (window.end - window.base + 63) / 64;
  for (uint32_t word = 0; word < words; ++word) {
    scratch_.matches[first + word] &= ~documents[word];
    if (!is_sieved_) scratch_.slot_bits[first + word] &= ~documents[word];
  }
}

std::span<const ScoredDocument> SpanUnion::Score(float bar) {
  if (is_sieved_) return sieve_->Score(range_, essential_, bar, has_matches_ ? scratch_.matches.data() : nullptr);
  std::vector<ScoredDocument>& scored = scratch_.scored;
  scored.clear();
  finder_.LeaveOutLone();
  if (NumberSlots() == 0) return scored;
  for (size_t i = 0; i < essential_; ++i) ScoreGroup(i);
  size_t group = essential_;
  // As long as most slots are candidates, or a group has few postings, the group is scored for all slots.
  bool is_chosen = false;
  for (; group < groups_.size(); ++group) {
    if (!is_chosen) {
      if (groups_[group]->IsCheaperGathered(range_, CountAbove(group, bar))) {
        ScoreLesserGroupForAll(group);
        continue;
      }
      ChooseCandidates(group, bar);
      is_chosen = true;
    }
    ScoreLesserGroup(group);
    KeepCandidates(group + 1, bar);
  }
  if (!is_chosen) ChooseCandidates(group, bar);
  for (const uint32_t slot : scratch_.candidates) {
    const float bonus = BonusBound(slot, groups_.size()) + (IsWhole(slot) ? query_->whole.bound : 0);
    scored.push_back({range_.base + scratch_.offsets[slot], scratch_.scores[slot], bonus * kBoundFactor});
  }
  return scored;
}

// Returns the least that one occurrence of a group's word counts for the group's frequency, before the weight of its
// field.
float SpanUnion::LeastWeight(const PreparedGroup& group) {
  if (!group.longer.empty()) return kLeastJoinedWeight;
  float least = 1;
  for (const PreparedAlternative& alternative : group.alternatives) {
    if (alternative.counts && !alternative.is_phrase()) least = std::min(least, alternative.weight);
  }
  return least;
}

// Returns the least weight of a field.
float SpanUnion::LeastUnits() const {
  uint32_t least = std::numeric_limits<uint32_t>::max();
  for (const TextFieldMeta& field : query_->generation->segments[segment_].segment->meta().text_fields) {
    least = std::min(least, field.weight_units);
  }
  return static_cast<float>(least);
}

uint32_t SpanUnion::NumberSlots() {
  const GatheredPostings& postings = scratch_.postings;
  const uint32_t count = RankWords(scratch_.slot_bits.data(), WordCount(), scratch_.ranks.data());
  EnsureSize(&scratch_.offsets, count + 1);
  EnsureSize(&scratch_.saturations, count + 1);
  EnsureSize(&scratch_.frequencies, (count + 1) * groups_.size());
  EnsureSize(&scratch_.scores, count + 1);
  slot_count_ = count;
  if (count == 0) return 0;
  if (essential_ == 1 && groups_[0]->alternative_count() == 1 && postings.count == count) {
    // If one list has all postings and all of them have a slot, the postings are the slots.
    std::copy_n(postings.offsets.data(), count, scratch_.offsets.data());
    std::copy_n(postings.frequencies.data(), count, FrequenciesOf(0));
  } else {
    for (size_t group = 0; group < essential_; ++group) {
      const auto [begin, end] = finder_.Gathered(group);
      SumGathered(group, begin, end);
    }
  }
  whole_slots_.clear();
  for (const WholeFieldMatch& match : WholeFieldsIn(*query_, segment_, range_)) {
    const uint32_t offset = match.document - range_.base;
    const uint32_t slot = FindSlot(RankedSlots(), offset);
    scratch_.offsets[slot] = offset;
    if (slot < count) whole_slots_.push_back(slot);
  }
  const uint8_t* norms = norms_ + range_.base;
  for (uint32_t i = 0; i < count; ++i) scratch_.saturations[i] = query_->saturation[norms[scratch_.offsets[i]]];
  std::fill_n(scratch_.scores.data(), count, 0.0f);
  return count;
}

// Sums the group's frequencies by slot; [begin, end) are its gathered postings.
void SpanUnion::SumGathered(size_t group, uint32_t begin, uint32_t end) {
  float* sums = FrequenciesOf(group);
  std::fill_n(sums, slot_count_, 0.0f);
  const GatheredPostings& postings = scratch_.postings;
  AddBySlot(RankedSlots(), {postings.offsets.data() + begin, end - begin}, postings.frequencies.data() + begin, sums,
            scratch_.offsets.data());
}

// Scores all slots, whose frequencies are known.
void SpanUnion::ScoreGroup(size_t group) {
  AddContributions(FrequenciesOf(group), scratch_.saturations.data(), slot_count_, groups_[group]->group().weight,
                   scratch_.scores.data());
}

// Returns the least score without the bonus that a candidate must have after this number of groups has been scored.
float SpanUnion::Least(size_t scored_groups, float bar) const {
  // Compared values were rounded differently from the bar.
  const bool is_final = scored_groups == groups_.size() && pairs_.empty();
  return is_final ? bar : bar * kBarFactor - bounds_->GroupsFrom(scored_groups);
}

// Returns the number of slots that may be candidates after this number of groups has been scored; all slots, without
// counting, if none can be ruled out.
size_t SpanUnion::CountAbove(size_t scored_groups, float bar) const {
  const float least = Least(scored_groups, bar) - query_->pairs_bound_max;
  if (least <= 0) return slot_count_;
  const float* scores = scratch_.scores.data();
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < slot_count_; ++slot) count += scores[slot] >= least;
  return count;
}

void SpanUnion::ScoreLesserGroupForAll(size_t group) {
  GatheredPostings& postings = scratch_.postings;
  postings.count = 0;
  groups_[group]->GatherAmong(range_, scratch_.slot_bits.data(), &postings);
  SumGathered(group, 0, postings.count);
  ScoreGroup(group);
}

// Scores only the candidates.
void SpanUnion::ScoreLesserGroup(size_t index) {
  GroupEvaluator& group = *groups_[index];
  const std::vector<uint32_t>& candidates = scratch_.candidates;
  EnsureSize(&scratch_.found, candidates.size());
  EnsureSize(&scratch_.documents, candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) scratch_.documents[i] = range_.base + scratch_.offsets[candidates[i]];
  group.LookUp({scratch_.documents.data(), candidates.size()}, &scratch_.look_up, scratch_.found.data());
  float* frequencies = FrequenciesOf(index);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint32_t slot = candidates[i];
    frequencies[slot] = scratch_.found[i];
    scratch_.scores[slot] += Contribution(frequencies[slot], scratch_.saturations[slot], group.group().weight);
  }
}

// Sets the candidates to the slots that may reach the bar after this number of groups has been scored.
void SpanUnion::ChooseCandidates(size_t scored_groups, float bar) {
  EnsureSize(&scratch_.reach, slot_count_ + 1);
  float* reach = scratch_.reach.data();
  std::copy_n(scratch_.scores.data(), slot_count_, reach);
  if (bar > 0) AddBonusBounds(scored_groups, reach);
  const float least = Least(scored_groups, bar);
  std::vector<uint32_t>& candidates = scratch_.candidates;
  candidates.resize(slot_count_ + 1);
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < slot_count_; ++slot) {
    candidates[count] = slot;
    count += reach[slot] >= least;
  }
  candidates.resize(count);
  if (whole_slots_.empty()) return;
  const auto middle = static_cast<ptrdiff_t>(count);
  candidates.insert(candidates.end(), whole_slots_.begin(), whole_slots_.end());
  std::inplace_merge(candidates.begin(), candidates.begin() + middle, candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
}

// Keeps the candidates that may still reach the bar.
void SpanUnion::KeepCandidates(size_t scored_groups, float bar) {
  const float least = Least(scored_groups, bar);
  std::erase_if(scratch_.candidates, [&](uint32_t slot) {
    const float score = scratch_.scores[slot];
    return score < least && score + BonusBound(slot, scored_groups) < least && !IsWhole(slot);
  });
}

// Returns the most that a pair adds to the score of a document with these frequencies of its groups: the product of
// their numbers of occurrences is at least the sum of 1 / distance.
float SpanUnion::Pair::Bound(float first_frequency, float second_frequency, float saturation) const {
  return std::min(bound, Contribution(first_frequency * second_frequency * scale, saturation, weight));
}

// Adds the most that pairs can add to each score, given this number of scored groups.
void SpanUnion::AddBonusBounds(size_t scored_groups, float* scores) const {
  const float* saturations = scratch_.saturations.data();
  for (const Pair& pair : pairs_) {
    if (pair.second >= scored_groups) {
      for (uint32_t slot = 0; slot < slot_count_; ++slot) scores[slot] += pair.bound;
      continue;
    }
    const float* first = FrequenciesOf(pair.first);
    const float* second = FrequenciesOf(pair.second);
    for (uint32_t slot = 0; slot < slot_count_; ++slot) {
      scores[slot] += pair.Bound(first[slot], second[slot], saturations[slot]);
    }
  }
}

// The same for one slot.
float SpanUnion::BonusBound(uint32_t slot, size_t scored_groups) const {
  float sum = 0;
  for (const Pair& pair : pairs_) {
    sum += pair.second >= scored_groups ? pair.bound
                                        : pair.Bound(FrequenciesOf(pair.first)[slot], FrequenciesOf(pair.second)[slot],
                                                     scratch_.saturations[slot]);
  }
  return sum;
}

bool SpanUnion::IsWhole(uint32_t slot) const {
  return !whole_slots_.empty() && std::ranges::binary_search(whole_slots_, slot);
}

}  // namespace gannet
