#include "segment_evaluator.h"

#include <algorithm>

#include "../bonus/whole_field.h"

namespace gannet {

SegmentEvaluator::SegmentEvaluator(const PreparedQuery* query, uint32_t segment, EvaluationNeeds needs,
                                   EvaluatorScratch* scratch)
    : query_(query), scratch_(scratch), window_(&scratch->window), needs_(needs), segment_(segment) {
  document_count_ = query->generation->segments[segment].segment->document_count();
  window_count_ = (document_count_ + kWindowSize - 1) / kWindowSize;
  size_t cursor_count = 0;
  for (const PreparedGroup& group : query->groups) cursor_count += GroupEvaluator::CursorCount(group, *query, segment);
  if (scratch->cursors.size() < cursor_count) scratch->cursors.resize(cursor_count);
  PostingCursor* cursors = scratch->cursors.data();
  groups_.reserve(query->groups.size());  // Pointers into it are kept, so it must not grow.
  for (const PreparedGroup& group : query->groups) {
    // If there are kMust groups, kShould groups matter only for scores.
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
  strategy_ = ChooseStrategy();
  PrepareStrategy();
}

Strategy SegmentEvaluator::ChooseStrategy() const {
  if (cannot_match_) return Strategy::kNothing;
  if (!query_->has_scoring_groups) return Strategy::kEveryDocument;
  if (query_->has_must) {
    return ConjunctionEvaluator::IsWorthwhile(must_, document_count_) ? Strategy::kByDocument : Strategy::kIntersection;
  }
  if (scoring_.empty()) return Strategy::kNothing;
  if (!needs_.scores) return Strategy::kUnionOfMatches;
  return scoring_.size() <= SpanUnion::kGroupsMax ? Strategy::kUnionBySpan : Strategy::kUnionByWindow;
}

void SegmentEvaluator::PrepareStrategy() {
  switch (strategy_) {
    case Strategy::kNothing:
    case Strategy::kEveryDocument:
    case Strategy::kIntersection:
      return;
    case Strategy::kByDocument:
      conjunction_ = std::make_unique<ConjunctionEvaluator>(
          query_, query_->generation->segments[segment_].segment->norms().data(),
          ConjunctionEvaluator::Groups{must_, must_not_, scoring_}, needs_.scores, needs_.all_matches);
      return;
    case Strategy::kUnionOfMatches:
      matcher_.emplace(scoring_, document_count_, &scratch_->span_bits);
      return;
    case Strategy::kUnionBySpan:
    case Strategy::kUnionByWindow:
      bounds_.emplace(*query_, scoring_);
      windows_.emplace(query_, segment_, scoring_, &*bounds_, needs_.all_matches, scratch_);
      if (strategy_ == Strategy::kUnionBySpan) {
        spans_ = std::make_unique<SpanUnion>(query_, segment_, scoring_, &*bounds_, &scratch_->span);
      }
      return;
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

float SegmentEvaluator::Bound() const {
  if (strategy_ == Strategy::kEveryDocument) return 1;
  float bound = 0;
  for (const GroupEvaluator* group : scoring_) bound += group->Bound();
  return bound * kBoundFactor;
}

uint64_t SegmentEvaluator::Count(const DeletionSet& deletions) {
  switch (strategy_) {
    case Strategy::kEveryDocument:
      return document_count_ - deletions.deleted_count;
    case Strategy::kByDocument:
      return conjunction_->Count(deletions);
    case Strategy::kUnionOfMatches:
      return matcher_->Count(deletions);
    case Strategy::kNothing:
    case Strategy::kIntersection:
    case Strategy::kUnionByWindow:
    case Strategy::kUnionBySpan:
      break;
  }
  return 0;
}

uint32_t SegmentEvaluator::NextWindow(uint32_t from, float bar) {
  if (from >= window_count_) return window_count_;
  switch (strategy_) {
    case Strategy::kNothing:
      return window_count_;
    case Strategy::kEveryDocument:
      return from;
    case Strategy::kByDocument: {
      const uint32_t target = from * kWindowSize;
      const bool has_whole = NextWholeField(*query_, segment_, target) != kNoDocument;
      return WindowOf(conjunction_->NextDocument(target, has_whole ? 0 : bar));
    }
    case Strategy::kIntersection:
      return WindowOf(NextInAll(from * kWindowSize));
    case Strategy::kUnionOfMatches:
      return matcher_->NextWindow(from);
    case Strategy::kUnionByWindow:
    case Strategy::kUnionBySpan:
      return std::min(windows_->NextWindow(from, bar), window_count_);
  }
  return window_count_;
}

uint32_t SegmentEvaluator::NextInAll(uint32_t target) {
  uint32_t next = target;
  for (GroupEvaluator* group : must_) {
    next = std::max(next, group->NextDocument(next));
    if (next == kNoDocument) break;
  }
  return next;
}

Window* SegmentEvaluator::Evaluate(uint32_t window, float bar) {
  WipeWords(window_->scores, score_words_);
  score_words_ = 0;
  window_->range = RangeOf(window);
  window_->matches.Clear();
  const uint32_t next_whole = NextWholeField(*query_, segment_, window_->range.base);
  // Blocks of an intersection may extend into the following windows.
  const bool is_by_document = strategy_ == Strategy::kByDocument;
  if (next_whole < window_->range.end || (is_by_document && next_whole != kNoDocument)) bar = 0;
  switch (strategy_) {
    case Strategy::kNothing:
      break;
    case Strategy::kEveryDocument:
      EvaluateAll();
      break;
    case Strategy::kByDocument:
      conjunction_->Evaluate(window_, bar);
      if (needs_.scores) score_words_ = window_->matches.used;
      break;
    case Strategy::kIntersection:
      EvaluateIntersection();
      break;
    case Strategy::kUnionOfMatches:
      matcher_->Match(window_);
      Exclude(window_);
      break;
    case Strategy::kUnionByWindow:
    case Strategy::kUnionBySpan:
      score_words_ = windows_->Evaluate(bar);
      Exclude(window_);
      break;
  }
  if (needs_.scores) FindBonusCandidates();
  return window_;
}

// Groups without bits of this window were scored for all documents at once, or are in no document that may be a hit.
// Bits may be missing for documents that cannot be hits.
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
  window_->matches.AddRange(0, window_->range.end - window_->range.base);
  Exclude(window_);
  if (!needs_.scores) return;
  std::fill(window_->scores, window_->scores + kWindowSize, 1.0f);
  score_words_ = ~uint64_t{0};
}

void SegmentEvaluator::EvaluateIntersection() {
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
