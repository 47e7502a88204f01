#include "segment_evaluator.h"

#include <algorithm>

#include "simd.h"

namespace gannet {

SegmentEvaluator::SegmentEvaluator(const PreparedQuery* query, uint32_t segment, bool with_scores,
                                   EvaluatorScratch* scratch)
    : query_(query), scratch_(scratch), window_(&scratch->window), with_scores_(with_scores) {
  document_count_ = query->generation->segments[segment].segment->document_count();
  window_count_ = (document_count_ + kWindowSize - 1) / kWindowSize;
  size_t cursor_count = 0;
  for (const PreparedGroup& group : query->groups) cursor_count += GroupEvaluator::CursorCount(group, *query, segment);
  if (scratch->cursors.size() < cursor_count) scratch->cursors.resize(cursor_count);
  PostingCursor* cursors = scratch->cursors.data();
  groups_.reserve(query->groups.size());  // Pointers into it are kept.
  for (const PreparedGroup& group : query->groups) {
    // Beside kMust groups, others only matter for scores.
    if (group.occur == Occur::kShould && query->has_must && !with_scores) continue;
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
  std::stable_sort(must_.begin(), must_.end(),
                   [](const GroupEvaluator* a, const GroupEvaluator* b) { return a->cost() < b->cost(); });
}

SegmentEvaluator::~SegmentEvaluator() { WipeWords(window_->scores, score_words_); }

uint32_t SegmentEvaluator::NextWindow(uint32_t from) {
  if (cannot_match_ || from >= window_count_) return window_count_;
  if (!query_->has_scoring_groups) return from;
  const uint32_t target = from * kWindowSize;
  uint32_t next = kNoDocument;
  if (query_->has_must) {
    next = target;
    for (GroupEvaluator* group : must_) {
      next = std::max(next, group->NextDocument(next));
      if (next == kNoDocument) break;
    }
  } else {
    for (GroupEvaluator* group : scoring_) {
      next = std::min(next, group->NextDocument(target));
      if (next < target + kWindowSize) break;
    }
  }
  return next == kNoDocument ? window_count_ : next / kWindowSize;
}

Window* SegmentEvaluator::Evaluate(uint32_t window) {
  WipeWords(window_->scores, score_words_);
  score_words_ = 0;
  window_->range.base = window * kWindowSize;
  window_->range.end = std::min(window_->range.base + kWindowSize, document_count_);
  if (!query_->has_scoring_groups) {
    EvaluateAll();
  } else if (query_->has_must) {
    EvaluateConjunction();
  } else if (with_scores_) {
    EvaluateUnion();
  } else {
    MatchUnion();
  }
  return window_;
}

void SegmentEvaluator::EvaluateAll() {
  window_->matches.Clear();
  window_->matches.AddRange(0, window_->range.end - window_->range.base);
  Exclude();
  if (!with_scores_) return;
  std::fill(window_->scores, window_->scores + kWindowSize, 1.0f);
  score_words_ = ~uint64_t{0};
}

// Every contribution is above zero, so the sums tell the matches.
void SegmentEvaluator::EvaluateUnion() {
  for (GroupEvaluator* group : scoring_) {
    if (group->is_single_term()) {
      score_words_ |= group->Scatter(window_->range, window_->scores);
    } else {
      group->Match(window_->range, nullptr, true);
      score_words_ |= group->bits().Occupied();
      group->AddScores(group->bits(), window_->scores);
    }
  }
  window_->matches.Clear();
  CompareWords(window_->scores, kLeastPositive, score_words_, window_->matches.words);
  window_->matches.used = score_words_;
  Exclude();
}

void SegmentEvaluator::MatchUnion() {
  WindowBits& matches = window_->matches;
  matches.Clear();
  uint64_t words = 0;
  for (GroupEvaluator* group : scoring_) {
    if (group->is_single_term()) words |= group->SetFlags(window_->range, &matches, scratch_->flags);
  }
  AddFlagWords(scratch_->flags, words, matches.words);
  matches.used |= words;
  WipeWords(scratch_->flags, words);
  for (GroupEvaluator* group : scoring_) {
    if (group->is_single_term()) continue;
    group->Match(window_->range, nullptr, false);
    matches.Unite(group->bits());
  }
  Exclude();
}

void SegmentEvaluator::EvaluateConjunction() {
  WindowBits& matches = window_->matches;
  must_.front()->Match(window_->range, nullptr, with_scores_);
  matches.Assign(must_.front()->bits());
  for (size_t i = 1; i < must_.size(); ++i) {
    if (!matches.Any()) return;
    must_[i]->Match(window_->range, &matches, with_scores_);
    matches.Intersect(must_[i]->bits());
  }
  Exclude();
  if (!with_scores_) return;
  score_words_ = matches.Occupied();
  if (score_words_ == 0) return;
  for (GroupEvaluator* group : scoring_) {
    if (group->group().occur == Occur::kShould) group->Match(window_->range, &matches, true);
    group->AddScores(matches, window_->scores);
  }
}

void SegmentEvaluator::Exclude() {
  for (GroupEvaluator* group : must_not_) {
    if (!window_->matches.Any()) return;
    group->Match(window_->range, &window_->matches, false);
    window_->matches.Subtract(group->bits());
  }
}

}  // namespace gannet
