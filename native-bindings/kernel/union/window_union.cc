#include "window_union.h"

#include <algorithm>

#include "../bonus/whole_field.h"
#include "../window/contributions.h"
#include "../window/selection.h"

namespace gannet {
namespace {

// Computing the bounds of a dense window costs 7 % of scoring it.
constexpr uint32_t kUnboundedWindows = 3;

}  // namespace

WindowUnion::WindowUnion(const PreparedQuery* query, uint32_t segment, std::span<GroupEvaluator* const> groups,
                         const UnionBounds* bounds, bool all_matches, EvaluatorScratch* scratch)
    : query_(query),
      segment_(segment),
      window_(&scratch->window),
      scratch_(scratch),
      groups_(groups),
      bounds_(*bounds),
      all_matches_(all_matches),
      essential_(groups.size()) {
  const uint32_t document_count = query->generation->segments[segment].segment->document_count();
  if (all_matches) matcher_.emplace(groups, document_count, &scratch->span_bits);
}

uint32_t WindowUnion::NextWindow(uint32_t from, float bar) {
  if (is_pruned_ && matcher_) return matcher_->NextWindow(from);
  const uint32_t target = from * kWindowSize;
  const bool is_pruned = !all_matches_ && bar > 0;
  if (is_pruned) essential_ = bounds_.Essential(essential_, bar);
  const size_t end = is_pruned ? essential_ : groups_.size();
  uint32_t next = kNoDocument;
  for (size_t i = 0; i < end; ++i) {
    next = std::min(next, is_pruned ? groups_[i]->NextDocumentBound(target) : groups_[i]->NextDocument(target));
    if (next < target + kWindowSize) break;
  }
  next = std::min(next, NextWholeField(*query_, segment_, target));
  return next == kNoDocument ? kNoWindow : next / kWindowSize;
}

uint64_t WindowUnion::Evaluate(float bar) {
  score_words_ = 0;
  Score(bar);
  return score_words_;
}

void WindowUnion::Score(float bar) {
  if (bar <= 0 || unbounded_windows_ > 0) {
    unbounded_windows_ -= unbounded_windows_ > 0;
    ScoreAll();
    return;
  }
  ScoreAbove(bar);
  // If nothing could be left out, hardly anything can be in the following windows.
  if (all_matches_ && !is_pruned_) unbounded_windows_ = kUnboundedWindows;
}

void WindowUnion::ScoreAll() {
  is_pruned_ = false;
  for (GroupEvaluator* group : groups_) {
    if (group->is_single_term()) {
      score_words_ |= group->Scatter(window_->range, window_->scores);
    } else {
      group->Match(window_->range, nullptr, true);
      score_words_ |= group->bits().Occupied();
      group->AddScores(window_->scores);
    }
  }
  MatchScored();
}

// Sets the matches of the union. Every contribution is above zero, so if all were added, the sums tell which documents
// match.
void WindowUnion::MatchScored() {
  if (is_pruned_) return matcher_->Match(window_);
  CompareWords(window_->scores, kLeastPositive, score_words_, window_->matches.words);
  window_->matches.used = score_words_;
}

// MAXSCORE (Turtle and Flood 1995) with the bounds of the window: the essential groups are those at the front of the
// order of scoring without which no document can reach the bar. They are scored for all documents; the others are only
// looked up for documents that may then still reach the bar. So every score that reaches the bar is the sum of all
// contributions in the order of scoring, to the bit.
void WindowUnion::ScoreAbove(float bar) {
  const WindowRange range = window_->range;
  essential_ = bounds_.Essential(essential_, bar);
  size_t essential = essential_;
  float bound = bounds_.GroupsFrom(essential);
  for (size_t i = essential; i-- > 0;) {
    bound += groups_[i]->Bound(range);
    if (i + 1 == essential && bound + bounds_.BonusFrom(i) < bar) essential = i;
  }
  // If nearly everything is scored anyway, leaving out a block would only require a second pass over the lists to find
  // the matches.
  const float surplus = bound + query_->pairs_bound_max - bar;
  const float spare = all_matches_ && is_whole_ && surplus >= 0 ? bound : surplus;
  is_pruned_ = false;
  if (essential > 0 && spare >= 0) {
    for (size_t i = 0; i < essential; ++i) {
      GroupEvaluator* group = groups_[i];
      is_pruned_ |= group->HasBlocksBelow(spare);
      if (group->is_single_term()) {
        score_words_ |= group->ScatterAbove(range, spare, window_->scores);
      } else {
        group->MatchAbove(range, spare);
        score_words_ |= group->bits().Occupied();
        group->AddScores(window_->scores);
      }
    }
    AddLesserGroups(essential, bar);
  } else {
    is_pruned_ = true;
  }
  if (all_matches_) MatchScored();
}

// Adds the contributions of the groups from `first` on to the scores of documents that may reach the bar.
void WindowUnion::AddLesserGroups(size_t first, float bar) {
  is_whole_ = false;
  if (first == groups_.size() && all_matches_) return;  // MatchScored finds the matches.
  WindowBits& candidates = scratch_->candidates;
  candidates.Clear();
  candidates.used = score_words_;
  size_t scored_whole = 0;
  for (size_t i = first;; ++i) {
    // Compared values were rounded differently from the bar.
    const float least = i == groups_.size() && query_->pairs.empty()
                            ? bar
                            : bar * kBarFactor - bounds_.GroupsFrom(i) - query_->pairs_bound_max;
    uint64_t reaching[kWindowWords];
    CompareWords(window_->scores, std::max(least, kLeastPositive), candidates.used, reaching);
    uint64_t used = 0;
    ForEachWord(candidates.used, [&](uint32_t word) {
      candidates.words[word] = i == first ? reaching[word] : candidates.words[word] & reaching[word];
      used |= uint64_t{candidates.words[word] != 0} << word;
    });
    candidates.used = used;
    if (i == groups_.size() || used == 0) break;
    if (groups_[i]->is_single_term() && groups_[i]->IsCheaperWhole(candidates.Count())) {
      // Documents that are not candidates stay below the bar with what they get.
      score_words_ |= groups_[i]->Scatter(window_->range, window_->scores);
      ++scored_whole;
    } else if (groups_[i]->is_single_term()) {
      groups_[i]->ScoreCandidates(window_->range, candidates, window_->scores);
    } else {
      groups_[i]->Match(window_->range, &candidates, true);
      groups_[i]->AddScores(candidates, window_->scores);
    }
  }
  is_pruned_ |= scored_whole < groups_.size() - first;
  is_whole_ = first < groups_.size() && scored_whole == groups_.size() - first;
  if (!all_matches_) window_->matches.Assign(candidates);
}

}  // namespace gannet
