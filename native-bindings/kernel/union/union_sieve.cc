#include "union_sieve.h"

#include <algorithm>

#include "../common/bits.h"
#include "../common/simd.h"
#include "../window/contributions.h"
#include "../window/selection.h"

namespace gannet {
namespace {

// Looking up one of many candidates costs about as much as weighing this many postings.
constexpr uint32_t kLookUpCostPostings = 6;
// Factor by which the expected share of candidates that are looked up in a group falls while none is looked up.
constexpr float kShareDecay = 0.5f;

}  // namespace

bool UnionSieve::CanTake(const PreparedQuery& query, std::span<GroupEvaluator* const> groups) {
  return query.pairs.empty() && query.whole.matches.empty() &&
         std::ranges::all_of(groups, [](const GroupEvaluator* group) { return group->is_single_term(); });
}

UnionSieve::UnionSieve(const PreparedQuery* query, const uint8_t* norms,
                       std::span<GroupEvaluator* const> groups, const UnionBounds* bounds, SpanScratch* scratch)
    : query_(query),
      norms_(norms),
      groups_(groups),
      bounds_(bounds),
      scratch_(*scratch),
      sieve_(scratch->sieve),
      looked_up_(groups.size(), 1.0f) {}

std::span<const ScoredDocument> UnionSieve::Score(WindowRange range, size_t essential, float bar,
                                                  const uint64_t* allowed) {
  // Compared values were rounded differently from the bar.
  const float least = bar * kBarFactor;
  Weigh(range, essential, least);
  sieve_.candidates.clear();
  const size_t weighed = lists_.size();
  const float lesser = bounds_->GroupsFrom(weighed);
  others_from_ = weighed;
  for (size_t group = essential; group-- > 0;) {
    Choose(group, least - lesser, least - bounds_->GroupsFrom(group + 1));
    AddOthers(group, least - lesser);
    MergeAdded();
  }
  if (allowed != nullptr) {
    std::erase_if(sieve_.candidates, [&](const SievedDocument& candidate) { return !HasBit(allowed, candidate.offset); });
  }
  WipeBits();
  for (size_t group = weighed; group < groups_.size(); ++group) AddLesser(group, range, least);
  std::vector<ScoredDocument>& scored = scratch_.scored;
  scored.clear();
  for (const SievedDocument& candidate : sieve_.candidates) {
    if (candidate.score >= bar) scored.push_back({range.base + candidate.offset, candidate.score, 0});
  }
  return scored;
}

// Decodes the postings of the essential groups, and of those lesser ones in which looking up candidates would cost
// more, and numbers the documents of all but the first.
void UnionSieve::Weigh(WindowRange range, size_t essential, float least) {
  words_ = (range.end - range.base + 63) / 64;
  GatheredPostings& postings = scratch_.postings;
  postings.count = 0;
  ends_.clear();
  for (size_t group = 0; group < groups_.size(); ++group) {
    if (group == essential) essential_postings_ = postings.count;
    if (group >= essential && !IsCheaperWeighed(group, range)) break;
    // Nothing is looked up in the first group, so documents that cannot be candidates are left out.
    groups_[group]->Weigh(range, group == 0 ? least - bounds_->GroupsFrom(1) : 0, &postings);
    ends_.push_back(postings.count);
  }
  const size_t weighed = ends_.size();
  if (weighed == essential) essential_postings_ = postings.count;
  EnsureSize(&sieve_.bits, weighed * words_);
  EnsureSize(&sieve_.places, sieve_.bits.size());
  lists_.clear();
  for (size_t group = 0; group < weighed; ++group) {
    const uint32_t begin = group == 0 ? 0 : ends_[group - 1];
    const uint32_t count = ends_[group] - begin;
    List list{{postings.offsets.data() + begin, count}, {postings.frequencies.data() + begin, count}, {}};
    if (group > 0) list.places = Number(list, group);
    lists_.push_back(list);
  }
}

bool UnionSieve::IsCheaperWeighed(size_t group, WindowRange range) {
  const uint64_t postings = groups_[group]->CostIn(range);
  const bool is_cheaper = looked_up_[group] * static_cast<float>(essential_postings_ * kLookUpCostPostings) >
                          static_cast<float>(postings);
  // As the bar rises, fewer candidates are looked up; how many is only known by trying.
  if (is_cheaper) looked_up_[group] *= kShareDecay;
  return is_cheaper;
}

// Returns the documents that any of the weighed groups after this one has.
const uint64_t* UnionSieve::BitsBehind(size_t group) {
  const size_t weighed = lists_.size();
  if (group + 2 == weighed) return BitsOf(group + 1);
  EnsureSize(&sieve_.others, words_);
  uint64_t* others = sieve_.others.data();
  if (others_from_ == weighed) std::copy_n(BitsOf(--others_from_), words_, others);
  while (others_from_ > group + 1) {
    const uint64_t* added = BitsOf(--others_from_);
    for (uint32_t word = 0; word < words_; ++word) others[word] |= added[word];
  }
  return others;
}

// Goes backwards, so that the place stored for a word is that of its first posting.
Slots UnionSieve::Number(const List& list, size_t index) {
  uint64_t* bits = BitsOf(index);
  uint32_t* places = sieve_.places.data() + index * words_;
  const auto count = static_cast<uint32_t>(list.offsets.size());
  for (uint32_t place = count; place-- > 0;) {
    const uint32_t offset = list.offsets[place];
    bits[offset / 64] |= uint64_t{1} << (offset % 64);
    places[offset / 64] = place;
  }
  return {bits, places, count};
}

void UnionSieve::WipeBits() {
  for (size_t group = 1; group < lists_.size(); ++group) {
    uint64_t* bits = BitsOf(group);
    if (lists_[group].offsets.size() > words_ / 4) {
      std::fill_n(bits, words_, 0);
    } else {
      for (const uint32_t offset : lists_[group].offsets) bits[offset / 64] = 0;
    }
  }
}

// Chooses the postings that reach `least`, or that reach the lower bar and whose document is in a weighed group after
// this one.
void UnionSieve::Choose(size_t group, float least, float least_with_others) {
  const List& list = lists_[group];
  const auto postings = static_cast<uint32_t>(list.offsets.size());
  EnsureSize(&sieve_.chosen, postings + kVectorPadding);
  chosen_count_ =
      group + 1 == lists_.size()
          ? SelectReaching(list.contributions.data(), postings, least, sieve_.chosen.data())
          : SelectReaching(list.contributions.data(), list.offsets.data(), postings, BitsBehind(group), least,
                           least_with_others, sieve_.chosen.data());
}

// Adds the contributions of the weighed groups after this one to the chosen documents, and keeps those that reach
// `least`.
void UnionSieve::AddOthers(size_t group, float least) {
  const List& list = lists_[group];
  sieve_.added.clear();
  for (uint32_t i = 0; i < chosen_count_; ++i) {
    const uint32_t offset = list.offsets[sieve_.chosen[i]];
    float score = list.contributions[sieve_.chosen[i]];
    const uint32_t word = offset / 64;
    const uint64_t bit = uint64_t{1} << (offset % 64);
    for (size_t other = group + 1; other < lists_.size(); ++other) {
      const Slots& places = lists_[other].places;
      const uint64_t bits = places.bits[word];
      if ((bits & bit) != 0) score += lists_[other].contributions[places.ranks[word] + PopCount(bits & (bit - 1))];
    }
    if (score >= least) sieve_.added.push_back({offset, score});
  }
}

// If a document was also chosen by a later list, the score from this list is the complete one.
void UnionSieve::MergeAdded() {
  if (sieve_.added.empty()) return;
  if (sieve_.candidates.empty()) return sieve_.candidates.swap(sieve_.added);
  sieve_.merged.resize(sieve_.added.size() + sieve_.candidates.size());
  size_t count = 0;
  size_t next = 0;
  for (const SievedDocument& candidate : sieve_.added) {
    while (next < sieve_.candidates.size() && sieve_.candidates[next].offset < candidate.offset) sieve_.merged[count++] = sieve_.candidates[next++];
    if (next < sieve_.candidates.size() && sieve_.candidates[next].offset == candidate.offset) ++next;
    sieve_.merged[count++] = candidate;
  }
  while (next < sieve_.candidates.size()) sieve_.merged[count++] = sieve_.candidates[next++];
  sieve_.merged.resize(count);
  sieve_.candidates.swap(sieve_.merged);
}

// Keeps the candidates that may still reach the bar, and adds the group to their scores.
void UnionSieve::AddLesser(size_t group, WindowRange range, float least) {
  const float needed = least - bounds_->GroupsFrom(group);
  std::erase_if(sieve_.candidates, [&](const SievedDocument& candidate) { return candidate.score < needed; });
  const size_t count = sieve_.candidates.size();
  looked_up_[group] = static_cast<float>(count) / static_cast<float>(essential_postings_ + 1);
  if (count == 0) return;
  EnsureSize(&scratch_.documents, count);
  EnsureSize(&scratch_.found, count);
  for (size_t i = 0; i < count; ++i) scratch_.documents[i] = range.base + sieve_.candidates[i].offset;
  groups_[group]->LookUp({scratch_.documents.data(), count}, &scratch_.look_up, scratch_.found.data());
  const float weight = groups_[group]->group().weight;
  for (size_t i = 0; i < count; ++i) {
    const float saturation = query_->saturation[norms_[scratch_.documents[i]]];
    sieve_.candidates[i].score += Contribution(scratch_.found[i], saturation, weight);
  }
}

}  // namespace gannet
