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
  std::vector<uint32_t> distinct;
  std::vector<uint32_t> slots;
  for (const uint32_t term : alternative.terms) {
    const auto found = std::ranges::find(distinct, term);
    slots.push_back(static_cast<uint32_t>(found - distinct.begin()));
    if (found == distinct.end()) distinct.push_back(term);
  }
  if (cursors_.size() < distinct.size()) cursors_.resize(distinct.size());
  for (size_t i = 0; i < distinct.size(); ++i) {
    const PostingList& list = query_.terms[distinct[i]].lists[segment_];
    if (list.document_frequency() == 0) return;
    cursors_[i].Reset(&list);
  }
  const auto add = [&](uint32_t document, uint32_t frequency) {
    if (frequency > 0) sums_[document - begin_] += alternative.weight * FrequencyToFloat(frequency);
  };
  if (!alternative.is_phrase()) {
    for (uint32_t at = begin_; (at = cursors_[0].NextDocument(at)) < end_; ++at) {
      if (cursors_[0].Seek(at)) add(at, cursors_[0].Frequency());
    }
    return;
  }
  const Segment* segment = query_.generation->segments[segment_].segment.get();
  PhraseMatcher phrase(segment, slots, std::span(cursors_).first(distinct.size()));
  for (uint32_t at = begin_; (at = phrase.NextDocument(at)) < end_; ++at) add(at, phrase.Frequency(at, false));
}

}  // namespace gannet
