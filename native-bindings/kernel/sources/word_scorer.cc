#include "word_scorer.h"

#include <algorithm>
#include <numeric>

#include "../cursors/phrase_matcher.h"
#include "../window/contributions.h"

namespace gannet {

const std::vector<float>& WordScorer::Score(uint32_t segment, uint32_t begin, uint32_t end) {
  range_.resize(end - begin);
  std::iota(range_.begin(), range_.end(), begin);
  return Score(segment, range_);
}

const std::vector<float>& WordScorer::Score(uint32_t segment, std::span<const uint32_t> documents) {
  ScoreWithoutBonus(segment, documents);
  if (proximity_.empty()) return scores_;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i] > 0) scores_[i] += proximity_.Bonus(segment, documents[i]);
  }
  return scores_;
}

const std::vector<float>& WordScorer::ScoreWithoutBonus(uint32_t segment, std::span<const uint32_t> documents) {
  segment_ = segment;
  documents_ = documents;
  scores_.assign(documents.size(), 0);
  ruled_out_.assign(documents.size(), 0);
  for (const PreparedGroup& group : query_.groups) {
    if (AddGroup(group) || group.occur != Occur::kShould) Rule(group);
  }
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (ruled_out_[i]) scores_[i] = 0;
  }
  return scores_;
}

// Adds a group; to be called in the order of scoring, as in the evaluator. Returns false if none of the documents
// matches it.
bool WordScorer::AddGroup(const PreparedGroup& group) {
  sums_.assign(scores_.size(), 0);
  for (const uint32_t index : group.summing_order) AddFrequencies(group.alternatives[index]);
  return std::ranges::any_of(sums_, [](float sum) { return sum > 0; });
}

void WordScorer::Rule(const PreparedGroup& group) {
  const uint8_t* norms = query_.generation->segments[segment_].segment->norms().data();
  for (size_t i = 0; i < sums_.size(); ++i) {
    const bool has = sums_[i] > 0;
    if (has && group.scores()) scores_[i] += Contribution(sums_[i], query_.saturation[norms[documents_[i]]], group.weight);
    ruled_out_[i] |= has ? group.occur == Occur::kMustNot : group.occur == Occur::kMust;
  }
}

// `next(document)` returns the first document from this one on that may match.
template <typename Next, typename FrequencyOf>
void WordScorer::AddFrequencies(float weight, Next&& next, FrequencyOf&& frequency_of) {
  for (size_t i = 0; i < documents_.size();) {
    const uint32_t found = next(documents_[i]);
    while (i < documents_.size() && documents_[i] < found) ++i;
    if (i == documents_.size()) return;
    if (documents_[i] > found) continue;
    const uint32_t frequency = frequency_of(found);
    if (frequency > 0) sums_[i] += weight * FrequencyToFloat(frequency);
    ++i;
  }
}

void WordScorer::AddFrequencies(const PreparedAlternative& alternative) {
  // Most alternatives are words: some ten of them are looked up in each of ten documents.
  if (!alternative.is_phrase()) {
    if (!Open(alternative.terms[0], 0)) return;
    PostingCursor& cursor = cursors_[0];
    return AddFrequencies(
        alternative.weight, [&](uint32_t from) { return cursor.NextDocument(from); },
        [&](uint32_t document) { return cursor.Seek(document) ? cursor.Frequency() : 0; });
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
  AddFrequencies(
      alternative.weight, [&](uint32_t from) { return phrase.NextDocument(from); },
      [&](uint32_t document) { return phrase.Frequency(document, false); });
}

// Returns false if the segment does not have the term.
bool WordScorer::Open(uint32_t term, size_t cursor) {
  const PostingList& list = query_.terms[term].lists[segment_];
  if (list.document_frequency() == 0) return false;
  if (cursors_.size() <= cursor) cursors_.resize(cursor + 1);
  cursors_[cursor].Reset(&list);
  return true;
}

}  // namespace gannet
