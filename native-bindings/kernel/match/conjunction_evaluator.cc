#include "conjunction_evaluator.h"

#include <algorithm>
#include <utility>

#include "../common/simd.h"
#include "../common/stop.h"
#include "../window/contributions.h"
#include "../window/selection.h"

namespace gannet {
namespace {

// Lists with at least one document in this many are intersected faster as bit sets.
constexpr uint32_t kDenseShare = 12;
// Looking up a document costs about as much as scanning this many postings.
constexpr uint64_t kLookUpCostPostings = 64;

}  // namespace

bool ConjunctionEvaluator::IsWorthwhile(std::span<GroupEvaluator* const> must, uint32_t document_count) {
  uint64_t lead = UINT64_MAX;
  bool has_phrase = false;
  for (const GroupEvaluator* group : must) {
    if (!group->has_one_alternative()) continue;
    lead = std::min(lead, group->cost());
    has_phrase |= group->phrase() != nullptr;
  }
  if (lead == UINT64_MAX) return false;
  for (const GroupEvaluator* group : must) {
    if (group->has_one_alternative()) continue;
    // Windows would scan its lists instead of looking documents up.
    if (lead * group->alternative_count() * kLookUpCostPostings > group->cost() + lead) return false;
  }
  return has_phrase || lead * kDenseShare < document_count;
}

ConjunctionEvaluator::ConjunctionEvaluator(const PreparedQuery* query, const uint8_t* norms, Groups groups,
                                           bool with_scores, bool all_matches)
    : query_(query),
      norms_(norms),
      with_scores_(with_scores),
      all_matches_(all_matches),
      must_not_(std::move(groups.must_not)) {
  std::vector<PostingCursor*> cursors;
  float bound = query->pairs_bound_max;
  for (const GroupEvaluator* group : groups.scoring) bound += group->Bound();
  clauses_.reserve(groups.scoring.size());
  for (GroupEvaluator* group : groups.scoring) {
    const bool is_must = group->group().occur == Occur::kMust;
    clauses_.push_back({group, {}, is_must, bound - group->Bound(), {}});
    if (!is_must || !group->has_one_alternative()) continue;
    has_phrase_ |= group->phrase() != nullptr;
    for (PostingCursor& cursor : group->required_cursors()) {
      clauses_.back().required.push_back(static_cast<uint32_t>(cursors.size()));
      cursors.push_back(&cursor);
    }
  }
  std::vector<uint32_t> order(cursors.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return cursors[a]->document_frequency() < cursors[b]->document_frequency();
  });
  std::vector<uint32_t> places(order.size());
  required_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    required_[i].cursor = cursors[order[i]];
    places[order[i]] = i;
  }
  for (Clause& clause : clauses_) {
    for (uint32_t& index : clause.required) {
      index = places[index];
      if (index == 0) lead_ = &clause;
    }
  }
}

uint32_t ConjunctionEvaluator::NextDocument(uint32_t target, float bar) {
  while (next_ < count_ && documents_[next_] < target) ++next_;
  if (next_ == count_ && !Refill(target, kNoDocument, bar)) return kNoDocument;
  return documents_[next_];
}

bool ConjunctionEvaluator::NextMatches(float bar) { return Refill(0, kNoDocument, bar); }

uint64_t ConjunctionEvaluator::Count(const DeletionSet& deletions) {
  uint64_t count = 0;
  while (NextMatches(0)) {
    count += count_;
    if (deletions.deleted_count == 0) continue;
    for (uint32_t i = 0; i < count_; ++i) count -= deletions.Contains(documents_[i]);
  }
  return count;
}

void ConjunctionEvaluator::Evaluate(Window* window, float bar) {
  const WindowRange range = window->range;
  while (next_ < count_ && documents_[next_] < range.base) ++next_;
  while (next_ < count_ || Refill(range.base, range.end, bar)) {
    for (; next_ < count_ && documents_[next_] < range.end; ++next_) {
      const uint32_t offset = documents_[next_] - range.base;
      window->matches.Add(offset);
      if (with_scores_) window->scores[offset] = scores_[next_];
    }
    if (next_ < count_) return;
  }
}

// Reads blocks until there is a match at or after the target; returns false if no block that begins before `end` has
// one.
bool ConjunctionEvaluator::Refill(uint32_t target, uint32_t end, float bar) {
  const PostingList& list = required_[0].cursor->list();
  next_ = count_ = 0;
  while (count_ == 0) {
    next_block_ = list.FindBlock(next_block_, target);
    if (next_block_ >= list.block_count()) return false;
    if (next_block_ > 0 && list.last_document(next_block_ - 1) + 1 >= end) return false;
    StopIfAsked();
    TakeBlock(next_block_++, target, bar);
  }
  return true;
}

void ConjunctionEvaluator::TakeBlock(uint32_t block, uint32_t target, float bar) {
  const bool is_pruned = with_scores_ && !all_matches_ && bar > 0;
  PostingCursor& cursor = *required_[0].cursor;
  intersected_ = 1;
  is_checked_ = false;
  if (is_pruned && !MayReach(lead_->group->BlockBound(cursor, block), *lead_, bar)) return;
  cursor.CopyBlock(block, documents_.data());
  count_ = cursor.list().block_length(block);
  for (uint32_t i = 0; i < count_; ++i) required_[0].postings[i] = block * kBlockSize + i;
  if (documents_[0] < target) KeepIf([&](uint32_t place) { return documents_[place] >= target; });
  if (is_pruned) KeepThoseReaching(bar);
  IntersectLists();
  if (count_ == 0) return;
  CheckClauses(is_pruned ? bar : 0);
  if (with_scores_ && count_ > 0) Score();
}

// Keeps the documents of the lead's block that can reach the bar with what the lead adds. A phrase occurs no more often
// than its rarest word, so this holds for both.
void ConjunctionEvaluator::KeepThoseReaching(float bar) {
  const float least = (bar - lead_->others_bound) / (kBoundFactor * kBoundFactor);
  if (least <= 0) return;
  PostingCursor& cursor = *required_[0].cursor;
  const float* saturation = query_->saturation.data();
  const float group_weight = lead_->group->group().weight;
  if (lead_->group->only_weight() != 1) {
    KeepIf([&](uint32_t place) {
      const float frequency =
          lead_->group->only_weight() * FrequencyToFloat(cursor.FrequencyOf(required_[0].postings[place]));
      return Contribution(frequency, saturation[norms_[documents_[place]]], group_weight) >= least;
    });
    return;
  }
  // All postings of the block are used.
  const uint32_t first = required_[0].postings[0];
  const float* contributions = cursor.contributions({norms_, saturation, group_weight}) + first % kBlockSize;
  std::array<uint32_t, kBlockSize + kVectorPadding> places;
  const uint32_t count = SelectReaching(contributions, count_, least, places.data());
  for (uint32_t i = 0; i < count; ++i) {
    documents_[i] = documents_[places[i]];
    required_[0].postings[i] = first + places[i];
  }
  count_ = count;
}

void ConjunctionEvaluator::IntersectLists() {
  std::array<uint32_t, kBlockSize> places;
  intersected_ = required_.size();
  for (size_t i = 1; i < required_.size() && count_ > 0; ++i) {
    const uint32_t before = count_;
    uint32_t* postings = needs_postings() ? required_[i].postings.data() : nullptr;
    count_ = required_[i].cursor->Intersect(count_, documents_.data(), postings, places.data());
    if (postings == nullptr || count_ == before) continue;
    for (size_t j = 0; j < i; ++j) {
      for (uint32_t k = 0; k < count_; ++k) required_[j].postings[k] = required_[j].postings[places[k]];
    }
  }
}

// Keeps the documents, by index, for which `test(place)` is true.
template <typename Test>
void ConjunctionEvaluator::KeepIf(Test&& test) {
  uint32_t kept = 0;
  for (uint32_t place = 0; place < count_; ++place) {
    if (!test(place)) continue;
    if (kept != place) {
      documents_[kept] = documents_[place];
      for (size_t i = 0; i < intersected_; ++i) required_[i].postings[kept] = required_[i].postings[place];
      if (is_checked_) {
        for (Clause& clause : clauses_) clause.frequencies[kept] = clause.frequencies[place];
      }
    }
    ++kept;
  }
  count_ = kept;
}

bool ConjunctionEvaluator::CheckPhrase(Clause* clause, uint32_t place, float bar) {
  std::vector<uint32_t>& postings = slot_postings_;
  const size_t slots = clause->required.size();
  postings.resize(slots);
  for (size_t slot = 0; slot < slots; ++slot) postings[slot] = required_[clause->required[slot]].postings[place];
  const uint32_t document = documents_[place];
  const float weight = clause->group->only_weight();
  if (bar > 0) {
    uint32_t most = UINT32_MAX;
    for (size_t slot = 0; slot < slots; ++slot) {
      most = std::min(most, required_[clause->required[slot]].cursor->FrequencyOf(postings[slot]));
    }
    const float contribution = Contribution(weight * FrequencyToFloat(most), query_->saturation[norms_[document]],
                                            clause->group->group().weight);
    if (!MayReach(contribution * kBoundFactor, *clause, bar)) return false;
  }
  const uint32_t frequency = clause->group->phrase()->FrequencyAt(document, postings, !with_scores_);
  clause->frequencies[place] = weight * FrequencyToFloat(frequency);
  return frequency > 0;
}

void ConjunctionEvaluator::CheckClauses(float bar) {
  is_checked_ = true;
  for (Clause& clause : clauses_) {
    if (!clause.is_must || (clause.group->has_one_alternative() && clause.group->phrase() == nullptr)) continue;
    if (clause.group->has_one_alternative()) {
      for (const uint32_t index : clause.required) required_[index].cursor->PrefetchPositions({required_[index].postings.data(), count_});
      KeepIf([&](uint32_t place) { return CheckPhrase(&clause, place, bar); });
    } else {
      KeepIf([&](uint32_t place) {
        clause.frequencies[place] = clause.group->Frequency(documents_[place], !with_scores_);
        return clause.frequencies[place] > 0;
      });
    }
  }
  for (GroupEvaluator* group : must_not_) {
    KeepIf([&](uint32_t place) { return group->Frequency(documents_[place], true) == 0; });
  }
}

void ConjunctionEvaluator::Score() {
  std::fill_n(scores_.begin(), count_, 0.0f);
  const float* saturation = query_->saturation.data();
  for (Clause& clause : clauses_) {
    const float weight = clause.group->group().weight;
    if (!clause.is_must) {
      for (uint32_t i = 0; i < count_; ++i) clause.frequencies[i] = clause.group->Frequency(documents_[i], false);
    } else if (clause.group->has_one_alternative() && clause.group->phrase() == nullptr) {
      Required& required = required_[clause.required[0]];
      for (uint32_t i = 0; i < count_; ++i) {
        clause.frequencies[i] =
            clause.group->only_weight() * FrequencyToFloat(required.cursor->FrequencyOf(required.postings[i]));
      }
    }
    for (uint32_t i = 0; i < count_; ++i) {
      if (clause.frequencies[i] <= 0) continue;
      scores_[i] += Contribution(clause.frequencies[i], saturation[norms_[documents_[i]]], weight);
    }
  }
}

}  // namespace gannet
