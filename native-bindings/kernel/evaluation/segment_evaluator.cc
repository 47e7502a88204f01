#include "segment_evaluator.h"

#include <algorithm>

#include "../bonus/whole_field.h"
#include "../window/contributions.h"
#include "../window/selection.h"

namespace gannet {
namespace {

// Finding the bounds of a dense window costs 7 % of scoring it.
constexpr uint32_t kUnboundedWindows = 3;

}  // namespace

SegmentEvaluator::SegmentEvaluator(const PreparedQuery* query, uint32_t segment, EvaluationNeeds needs,
                                   EvaluatorScratch* scratch)
    : query_(query), scratch_(scratch), window_(&scratch->window), needs_(needs), segment_(segment) {
  document_count_ = query->generation->segments[segment].segment->document_count();
  window_count_ = (document_count_ + kWindowSize - 1) / kWindowSize;
  size_t cursor_count = 0;
  for (const PreparedGroup& group : query->groups) cursor_count += GroupEvaluator::CursorCount(group, *query, segment);
  if (scratch->cursors.size() < cursor_count) scratch->cursors.resize(cursor_count);
  PostingCursor* cursors = scratch->cursors.data();
  groups_.reserve(query->groups.size());  // Pointers into it are kept.
  for (const PreparedGroup& group : query->groups) {
    // Beside kMust groups, others only matter for scores.
    if (group.occur == Occur::kShould && query->has_must && !needs.scores) continue;
    GroupEvaluator evaluator(query, &group, segment, scratch, &cursors);
    if (evaluator.empty()) {
      cannot_match_ |= group.occur == Occur::kMust;
      continue;
    }
    groups_.push_back(std::move(evaluator));
    GroupEvaluator* kept = &groups_.back();
    if (group.scores()) scoring_.push_back(kept);
    if (group.occur == Occur::kMust) must_.push_back(kept);
    if (group.occur == Occur::kMustNot) must_not_.push_back(kept);
  }
  MakePairs();
  std::stable_sort(must_.begin(), must_.end(),
                   [](const GroupEvaluator* a, const GroupEvaluator* b) { return a->cost() < b->cost(); });
  if (!query->has_must && needs.scores) {
    essential_ = scoring_.size();
    bounds_ = std::make_unique<UnionBounds>(*query, scoring_);
    if (!scoring_.empty() && scoring_.size() <= SpanUnion::kGroupsMax) {
      spans_ = std::make_unique<SpanUnion>(query, segment, scoring_, bounds_.get(), &scratch->span);
    }
  }
  if (!query->has_must && (needs.all_matches || !needs.scores)) {
    matcher_ = std::make_unique<UnionMatcher>(scoring_, document_count_, &scratch->span_bits);
  }
  if (!cannot_match_ && !must_.empty() && ConjunctionEvaluator::IsWorthwhile(must_, document_count_)) {
    conjunction_ = std::make_unique<ConjunctionEvaluator>(
        query, query->generation->segments[segment].segment->norms().data(),
        ConjunctionEvaluator::Groups{must_, must_not_, scoring_}, needs.scores, needs.all_matches);
  }
}

SegmentEvaluator::~SegmentEvaluator() { WipeWords(window_->scores, score_words_); }

void SegmentEvaluator::MakePairs() {
  if (!needs_.scores || query_->has_must) return;
  const auto evaluator_of = [&](uint32_t index) -> const GroupEvaluator* {
    const auto is_it = [&](const GroupEvaluator& group) { return &group.group() == &query_->groups[index]; };
    const auto found = std::ranges::find_if(groups_, is_it);
    return found == groups_.end() ? nullptr : &*found;
  };
  for (const PreparedPair& pair : query_->pairs) {
    const GroupEvaluator* first = evaluator_of(pair.first);
    const GroupEvaluator* second = evaluator_of(pair.second);
    if (first != nullptr && second != nullptr) pairs_.emplace_back(first, second);
  }
}

std::optional<uint64_t> SegmentEvaluator::Count(const DeletionSet& deletions) {
  if (needs_.scores || excludes()) return std::nullopt;
  if (cannot_match_) return 0;
  if (!query_->has_scoring_groups) return document_count_ - deletions.deleted_count;
  if (conjunction_) return conjunction_->Count(deletions);
  if (matcher_) return matcher_->Count(deletions);
  return std::nullopt;
}

uint32_t SegmentEvaluator::NextWindow(uint32_t from, float bar) {
  if (cannot_match_ || from >= window_count_) return window_count_;
  if (!query_->has_scoring_groups) return from;
  const uint32_t target = from * kWindowSize;
  uint32_t next = kNoDocument;
  const uint32_t next_whole = NextWholeField(*query_, segment_, target);
  if (conjunction_) {
    next = conjunction_->NextDocument(target, next_whole == kNoDocument ? bar : 0);
  } else if (query_->has_must) {
    next = target;
    for (GroupEvaluator* group : must_) {
      next = std::max(next, group->NextDocument(next));
      if (next == kNoDocument) break;
    }
  } else if (matcher_ && (!needs_.scores || is_pruned_)) {
    return matcher_->NextWindow(from);
  } else {
    const bool is_pruned = needs_.scores && !needs_.all_matches && bar > 0;
    if (is_pruned) essential_ = bounds_->Essential(essential_, bar);
    const size_t end = is_pruned ? essential_ : scoring_.size();
    for (size_t i = 0; i < end; ++i) {
      next = std::min(next, is_pruned ? scoring_[i]->NextDocumentBound(target) : scoring_[i]->NextDocument(target));
      if (next < target + kWindowSize) break;
    }
    next = std::min(next, next_whole);
  }
  return next == kNoDocument ? window_count_ : next / kWindowSize;
}

Window* SegmentEvaluator::Evaluate(uint32_t window, float bar) {
  WipeWords(window_->scores, score_words_);
  score_words_ = 0;
  window_->range = RangeOf(window);
  const uint32_t next_whole = NextWholeField(*query_, segment_, window_->range.base);
  // Blocks of an intersection reach into the windows that follow.
  if (next_whole < window_->range.end || (conjunction_ && next_whole != kNoDocument)) bar = 0;
  if (!query_->has_scoring_groups) {
    EvaluateAll();
  } else if (conjunction_) {
    window_->matches.Clear();
    conjunction_->Evaluate(window_, bar);
    if (needs_.scores) score_words_ = window_->matches.used;
  } else if (query_->has_must) {
    EvaluateConjunction();
  } else {
    window_->matches.Clear();
    if (needs_.scores) {
      EvaluateUnion(bar);
    } else {
      matcher_->Match(window_);
    }
    Exclude(window_);
  }
  if (needs_.scores) FindBonusCandidates();
  return window_;
}

// Groups without bits of this window were scored for all documents at once, or are not in any that may be a hit; bits
// may be missing for documents that cannot be hits.
void SegmentEvaluator::FindBonusCandidates() {
  WindowBits& candidates = window_->bonus_candidates;
  candidates.Clear();
  if (query_->has_must) {
    // Most matches have all groups.
    if (!query_->pairs.empty()) candidates.Assign(window_->matches);
  }
  for (const auto& [first, second] : pairs_) {
    const bool is_first_known = first->HasMatched(window_->range);
    const bool is_second_known = second->HasMatched(window_->range);
    if (is_first_known && is_second_known) {
      candidates.UniteCommon(first->bits(), second->bits());
    } else if (is_first_known || is_second_known) {
      candidates.Unite((is_first_known ? first : second)->bits());
    } else {
      candidates.Unite(window_->matches);
    }
  }
  AddWholeFields(*query_, segment_, window_->range, &candidates);
}

void SegmentEvaluator::EvaluateAll() {
  window_->matches.Clear();
  window_->matches.AddRange(0, window_->range.end - window_->range.base);
  Exclude(window_);
  if (!needs_.scores) return;
  std::fill(window_->scores, window_->scores + kWindowSize, 1.0f);
  score_words_ = ~uint64_t{0};
}

void SegmentEvaluator::EvaluateUnion(float bar) {
  if (bar <= 0 || unbounded_windows_ > 0) {
    unbounded_windows_ -= unbounded_windows_ > 0;
    ScoreUnion();
    return;
  }
  ScoreUnionAbove(bar);
  // Where nothing could be left out, hardly anything can in those that follow.
  if (needs_.all_matches && !is_pruned_) unbounded_windows_ = kUnboundedWindows;
}

void SegmentEvaluator::ScoreUnion() {
  is_pruned_ = false;
  for (GroupEvaluator* group : scoring_) {
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

// The matches of a union. Every contribution is above zero, so where all were added, the sums tell.
void SegmentEvaluator::MatchScored() {
  if (is_pruned_) return matcher_->Match(window_);
  CompareWords(window_->scores, kLeastPositive, score_words_, window_->matches.words);
  window_->matches.used = score_words_;
}

// MAXSCORE (Turtle and Flood 1995) with the bounds of the window: the essential groups are those at the front of the
// order of scoring that no document can do without if it is to reach the bar. They are scored for all documents; the
// others are only looked up for documents that still may reach it then. So every score that reaches the bar is the
// sum of all contributions in the order of scoring, to the bit.
void SegmentEvaluator::ScoreUnionAbove(float bar) {
  const WindowRange range = window_->range;
  essential_ = bounds_->Essential(essential_, bar);
  size_t essential = essential_;
  float bound = bounds_->GroupsFrom(essential);
  for (size_t i = essential; i-- > 0;) {
    bound += scoring_[i]->Bound(range);
    if (i + 1 == essential && bound + bounds_->BonusFrom(i) < bar) essential = i;
  }
  // Where nearly all is scored anyway, leaving out a block would only make a second run over the lists necessary, for
  // the matches.
  const float surplus = bound + query_->pairs_bound_max - bar;
  const float spare = needs_.all_matches && is_whole_ && surplus >= 0 ? bound : surplus;
  is_pruned_ = false;
  if (essential > 0 && spare >= 0) {
    for (size_t i = 0; i < essential; ++i) {
      GroupEvaluator* group = scoring_[i];
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
  if (needs_.all_matches) MatchScored();
}

// Adds the contributions of the groups from `first` on to the scores of those who may reach the bar.
void SegmentEvaluator::AddLesserGroups(size_t first, float bar) {
  is_whole_ = false;
  if (first == scoring_.size() && needs_.all_matches) return;  // MatchScored says who matches.
  WindowBits& candidates = scratch_->candidates;
  candidates.Clear();
  candidates.used = score_words_;
  size_t scored_whole = 0;
  for (size_t i = first;; ++i) {
    // What is compared has been rounded on other ways than the bar.
    const float least = i == scoring_.size() && query_->pairs.empty()
                            ? bar
                            : bar * kBarFactor - bounds_->GroupsFrom(i) - query_->pairs_bound_max;
    uint64_t reaching[kWindowWords];
    CompareWords(window_->scores, std::max(least, kLeastPositive), candidates.used, reaching);
    uint64_t used = 0;
    ForEachWord(candidates.used, [&](uint32_t word) {
      candidates.words[word] = i == first ? reaching[word] : candidates.words[word] & reaching[word];
      used |= uint64_t{candidates.words[word] != 0} << word;
    });
    candidates.used = used;
    if (i == scoring_.size() || used == 0) break;
    if (scoring_[i]->is_single_term() && scoring_[i]->IsCheaperWhole(candidates.Count())) {
      // What documents get that are no candidates leaves them below the bar.
      score_words_ |= scoring_[i]->Scatter(window_->range, window_->scores);
      ++scored_whole;
    } else if (scoring_[i]->is_single_term()) {
      scoring_[i]->ScoreCandidates(window_->range, candidates, window_->scores);
    } else {
      scoring_[i]->Match(window_->range, &candidates, true);
      scoring_[i]->AddScores(candidates, window_->scores);
    }
  }
  is_pruned_ |= scored_whole < scoring_.size() - first;
  is_whole_ = first < scoring_.size() && scored_whole == scoring_.size() - first;
  if (!needs_.all_matches) window_->matches.Assign(candidates);
}

void SegmentEvaluator::EvaluateConjunction() {
  WindowBits& matches = window_->matches;
  must_.front()->Match(window_->range, nullptr, needs_.scores);
  matches.Assign(must_.front()->bits());
  for (size_t i = 1; i < must_.size(); ++i) {
    if (!matches.Any()) return;
    must_[i]->Match(window_->range, &matches, needs_.scores);
    matches.Intersect(must_[i]->bits());
  }
  Exclude(window_);
  if (!needs_.scores) return;
  score_words_ = matches.Occupied();
  if (score_words_ == 0) return;
  for (GroupEvaluator* group : scoring_) {
    if (group->group().occur == Occur::kShould) group->Match(window_->range, &matches, true);
    group->AddScores(matches, window_->scores);
  }
}

void SegmentEvaluator::Exclude(Window* window) {
  for (GroupEvaluator* group : must_not_) {
    if (!window->matches.Any()) return;
    group->Match(window->range, &window->matches, false);
    window->matches.Subtract(group->bits());
  }
}

}  // namespace gannet
