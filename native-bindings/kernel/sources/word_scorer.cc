#include "word_scorer.h"

#include <algorithm>

#include "../cursors/phrase_matcher.h"
#include "../window/contributions.h"

namespace gannet {

const std::vector<float>& WordScorer::Score(uint32_t segment, uint32_t begin, uint32_t end) {
  segment_ = segment;
  begin_ = begin;
  end_ = end;
  scores_.assign(end - begin, 0);
  ruled_out_.assign(end - begin, 0);
  for (const PreparedGroup& group : query_.groups) {
    if (AddGroup(group) || group.occur != Occur::kShould) Rule(group);
  }
  for (uint32_t i = 0; i < scores_.size(); ++i) {
    if (ruled_out_[i]) {
      scores_[i] = 0;
    } else if (scores_[i] > 0 && !proximity_.empty()) {
      scores_[i] += proximity_.Bonus(segment, begin + i);
    }
  }
  return scores_;
}

// In the order of scoring, as the evaluator does. False where no document of the range has any of it.
bool WordScorer::AddGroup(const PreparedGroup& group) {
  sums_.assign(scores_.size(), 0);
  for (const uint32_t index : group.summing_order) AddFrequencies(group.alternatives[index]);
  return std::ranges::any_of(sums_, [](float sum) { return sum > 0; });
}

void WordScorer::Rule(const PreparedGroup& group) {
  const uint8_t* norms = query_.generation->segments[segment_].segment->norms().data() + begin_;
  for (uint32_t i = 0; i < sums_.size(); ++i) {
    const bool has = sums_[i] > 0;
    if (has && group.scores()) scores_[i] += Contribution(sums_[i], query_.saturation[norms[i]], group.weight);
    ruled_out_[i] |= has ? group.occur == Occur::kMustNot : group.occur == Occur::kMust;
  }
}

void WordScorer::AddFrequencies(const PreparedAlternative& alternative) {
  const auto add = [&](uint32_t document, uint32_t frequency) {
    if (frequency > 0) sums_[document - begin_] += alternative.weight * FrequencyToFloat(frequency);
  };
  // A word, as most are: some ten of them are asked for in each of ten documents.
  if (!alternative.is_phrase()) {
    if (!Open(alternative.terms[0], 0)) return;
    for (uint32_t at = begin_; (at = cursors_[0].NextDocument(at)) < end_; ++at) {
      if (cursors_[0].Seek(at)) add(at, cursors_[0].Frequency());
    }
    return;
  }
  distinct_.clear();
  slots_.clear();
  for (const uint32_t term : alternative.terms) {
    const auto found = std::ranges::find(distinct_, term);
    slots_.push_back(static_cast<uint32_t>(found - distinct_.begin()));
    if (found == distinct_.end()) distinct_.push_back(term);
  }
  for (size_t i = 0; i < distinct_.size(); ++i) {
    if (!Open(distinct_[i], i)) return;
  }
  const Segment* segment = query_.generation->segments[segment_].segment.get();
  PhraseMatcher phrase(segment, slots_, std::span(cursors_).first(distinct_.size()));
  for (uint32_t at = begin_; (at = phrase.NextDocument(at)) < end_; ++at) add(at, phrase.Frequency(at, false));
}

// False where the segment does not have the term.
bool WordScorer::Open(uint32_t term, size_t cursor) {
  const PostingList& list = query_.terms[term].lists[segment_];
  if (list.document_frequency() == 0) return false;
  if (cursors_.size() <= cursor) cursors_.resize(cursor + 1);
  cursors_[cursor].Reset(&list);
  return true;
}

}  // namespace gannet
