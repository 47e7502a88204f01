// The part of GroupEvaluator that works on one window: which documents match, and what they score.
#include <algorithm>
#include <limits>

#include "../common/error.h"
#include "../window/contributions.h"
#include "../window/selection.h"
#include "group_evaluator.h"

namespace gannet {
namespace {

// Finding one posting costs about as much as scanning this many, because its block must be decoded and searched.
constexpr uint64_t kProbeCostPostings = 40;
// Looking up one of many candidates costs about as much as adding this many postings to the scores.
constexpr uint64_t kCandidateCostPostings = 6;

}  // namespace

bool GroupEvaluator::ShouldProbe(const WindowBits* candidates) const {
  if (candidates == nullptr) return false;
  const uint64_t postings_in_window = cost_ * kWindowSize / std::max(document_count_, kWindowSize);
  return candidates->Count() * alternatives_.size() * kProbeCostPostings < postings_in_window;
}

void GroupEvaluator::Match(WindowRange range, const WindowBits* candidates, bool for_scores) {
  PoolRareTerms();
  range_ = range;
  ranked_ = false;
  if (ShouldProbe(candidates)) {
    MatchByProbing(range, candidates, for_scores);
  } else if (single_ != nullptr) {
    MatchSingle(range);
  } else if (for_scores) {
    MatchByAccumulation(range, candidates);
  } else {
    MatchByFlags(range, candidates);
  }
}

void GroupEvaluator::MatchSingle(WindowRange range) {
  uint64_t words = 0;
  bits_.Clear();
  single_->AddBits(range, &bits_, scratch_->flags, &words, &first_posting_);
  AddFlagWords(scratch_->flags, words, bits_.words);
  bits_.used |= words;
  WipeWords(scratch_->flags, words);
  ranked_ = true;
}

void GroupEvaluator::MatchByProbing(WindowRange range, const WindowBits* candidates, bool for_scores) {
  bits_.Clear();
  if (single_ == nullptr) WipeFrequencies();
  ForEachBit(*candidates, [&](uint32_t offset) {
    const uint32_t document = range.base + offset;
    const float frequency =
        single_ != nullptr ? (single_->Seek(document) ? 1.0f : 0.0f) : Frequency(document, !for_scores);
    if (frequency <= 0) return;
    bits_.Add(offset);
    if (single_ != nullptr || !for_scores) return;
    AddFrequency(offset, frequency);
  });
}

void GroupEvaluator::MatchByFlags(WindowRange range, const WindowBits* candidates) {
  uint8_t* flags = scratch_->flags;
  uint64_t words = 0;
  bits_.Clear();
  if (pooled_ && pooled_->Mark(range, bits_.words) != 0) words |= ~uint64_t{0};
  for (const Alternative& alternative : walked()) {
    if (alternative.phrase) continue;
    uint32_t first_posting;
    alternative.term->AddBits(range, &bits_, flags, &words, &first_posting);
  }
  AddFlagWords(flags, words, bits_.words);
  bits_.used |= words;
  WipeWords(flags, words);
  for (const Alternative& alternative : walked()) {
    if (alternative.phrase) AddPhrase(range, candidates, alternative, false);
  }
}

template <typename Choose>
void GroupEvaluator::AccumulateTerm(WindowRange range, const Alternative& alternative, Choose&& choose) {
  PostingCursor& term = *alternative.term;
  float* sums = frequencies_->of.data();
  term.ForEachRun(range, choose, [&](uint32_t begin, uint32_t end) {
    const uint32_t* documents = term.documents();
    const uint32_t* frequencies = term.frequencies();
    TouchedOffsets& touched = frequencies_->touched;
    for (uint32_t i = begin; i < end; ++i) {
      touched.Add(documents[i] - range.base, alternative.weight * FrequencyToFloat(frequencies[i]), sums);
    }
    touched.EndRun();
  });
}

void GroupEvaluator::MatchByAccumulation(WindowRange range, const WindowBits* candidates) {
  WipeFrequencies();
  for (const Alternative& alternative : walked()) {
    if (alternative.phrase) {
      AddPhrase(range, candidates, alternative, true);
      continue;
    }
    AccumulateTerm(range, alternative, [](uint32_t) { return true; });
  }
  if (pooled_) pooled_->Accumulate(range, frequencies_->of.data(), &frequencies_->touched);
  FinishAccumulation();
}

// Returns the least bound of a block that is not left out: documents whose posting is in a block below it stay more than
// `spare` below the group's bound.
float GroupEvaluator::LeastBlockBound(const Alternative& alternative, float spare) const {
  return alternative.bound - (spare + excess_) / group_->weight;
}

bool GroupEvaluator::HasBlocksBelow(float spare) {
  return std::ranges::any_of(walked(), [&](const Alternative& alternative) {
    return !alternative.phrase && LeastBlockBound(alternative, spare) > 0;
  });
}

void GroupEvaluator::MatchAbove(WindowRange range, float spare) {
  range_ = range;
  ranked_ = false;
  WipeFrequencies();
  for (const Alternative& alternative : walked()) {
    if (alternative.phrase) {
      AddPhrase(range, nullptr, alternative, true);
      continue;
    }
    const float least = LeastBlockBound(alternative, spare);
    AccumulateTerm(range, alternative, [&](uint32_t block) { return alternative.term->BlockBound(block) >= least; });
  }
  if (pooled_) pooled_->Accumulate(range, frequencies_->of.data(), &frequencies_->touched);
  FinishAccumulation();
}

void GroupEvaluator::AddPhrase(WindowRange range, const WindowBits* candidates, const Alternative& alternative,
                               bool for_scores) {
  PhraseMatcher& phrase = *alternative.phrase;
  for (uint32_t document = phrase.NextDocument(range.base); document < range.end;
       document = phrase.NextDocument(document + 1)) {
    const uint32_t offset = document - range.base;
    if (candidates != nullptr && !candidates->Contains(offset)) continue;
    if (!for_scores && bits_.Contains(offset)) continue;
    const uint32_t frequency = phrase.Frequency(document, !for_scores);
    if (frequency == 0) continue;
    if (for_scores) {
      AddFrequency(offset, alternative.weight * FrequencyToFloat(frequency));
    } else {
      bits_.Add(offset);
    }
  }
}

void GroupEvaluator::AddFrequency(uint32_t offset, float frequency) {
  frequencies_->touched.Add(offset, frequency, frequencies_->of.data());
  frequencies_->touched.EndRun();
}

void GroupEvaluator::FinishAccumulation() {
  bits_.Clear();
  for (const uint16_t offset : frequencies_->touched.offsets()) bits_.Add(offset);
}

// The array is made when a window is first matched this way: conjunctions and spans never need it.
void GroupEvaluator::WipeFrequencies() {
  if (!frequencies_) {
    frequencies_ = std::make_unique<Frequencies>();
  } else {
    frequencies_->touched.Wipe(frequencies_->of.data());
  }
}

void GroupEvaluator::AddScores(const WindowBits& matches, float* scores) {
  if (ranked_) {
    AddRankedScores(matches, scores);
    return;
  }
  const float weight = group_->weight;
  const float* saturation = query_->saturation.data();
  ForEachWord(matches.used & bits_.used, [&](uint32_t word) {
    ForEachBit(matches.words[word] & bits_.words[word], word * 64, [&](uint32_t offset) {
      const uint32_t document = range_.base + offset;
      float frequency;
      if (single_ == nullptr) {
        frequency = frequencies_->of[offset];
      } else {
        if (!single_->Seek(document)) return;
        frequency = FrequencyToFloat(single_->Frequency());
      }
      scores[offset] += Contribution(frequency, saturation[norms_[document]], weight);
    });
  });
}

void GroupEvaluator::AddScores(float* scores) {
  if (single_ != nullptr) {
    AddScores(bits_, scores);
    return;
  }
  // Processes a fixed number at a time, so that the compiler can divide several at once.
  constexpr size_t kAtOnce = 64;
  float frequencies[kAtOnce];
  float saturations[kAtOnce];
  const uint8_t* norms = norms_ + range_.base;
  std::span<const uint16_t> offsets = frequencies_->touched.offsets();
  while (!offsets.empty()) {
    const size_t count = std::min(offsets.size(), kAtOnce);
    for (size_t i = 0; i < count; ++i) {
      frequencies[i] = frequencies_->of[offsets[i]];
      saturations[i] = query_->saturation[norms[offsets[i]]];
    }
    for (size_t i = 0; i < count; ++i) frequencies[i] = Contribution(frequencies[i], saturations[i], group_->weight);
    for (size_t i = 0; i < count; ++i) scores[offsets[i]] += frequencies[i];
    offsets = offsets.subspan(count);
  }
}

// The rank of a document among the bits of the window is the number of its posting, counted from the first.
void GroupEvaluator::AddRankedScores(const WindowBits& matches, float* scores) {
  const float weight = group_->weight;
  const float* saturation = query_->saturation.data();
  uint32_t posting = first_posting_;
  ForEachWord(bits_.used, [&](uint32_t word) {
    const uint64_t all = bits_.words[word];
    ForEachBit(matches.words[word] & all, word * 64, [&](uint32_t offset) {
      const uint64_t before = all & ((uint64_t{1} << (offset % 64)) - 1);
      const float frequency = FrequencyToFloat(single_->FrequencyOf(posting + PopCount(before)));
      scores[offset] += Contribution(frequency, saturation[norms_[range_.base + offset]], weight);
    });
    posting += PopCount(all);
  });
}

bool GroupEvaluator::IsCheaperWhole(uint32_t candidates) const {
  const uint64_t postings_in_window = cost_ * kWindowSize / std::max(document_count_, kWindowSize);
  return candidates * kCandidateCostPostings > postings_in_window;
}

void GroupEvaluator::ScoreCandidates(WindowRange range, const WindowBits& candidates, float* scores) {
  uint32_t* documents = scratch_->documents.data();
  uint32_t count = 0;
  ForEachBit(candidates, [&](uint32_t offset) { documents[count++] = range.base + offset; });
  const uint32_t* postings = scratch_->postings.data();
  count = single_->Intersect(count, documents, scratch_->postings.data(), scratch_->places.data());
  for (uint32_t i = 0; i < count; ++i) {
    const float frequency = FrequencyToFloat(single_->FrequencyOf(postings[i]));
    scores[documents[i] - range.base] +=
        Contribution(frequency, query_->saturation[norms_[documents[i]]], group_->weight);
  }
}

uint64_t GroupEvaluator::Scatter(WindowRange range, float* scores) {
  return ScatterAbove(range, std::numeric_limits<float>::infinity(), scores);
}

uint64_t GroupEvaluator::ScatterAbove(WindowRange range, float spare, float* scores) {
  uint64_t words = 0;
  const TermScoring scoring{norms_, query_->saturation.data(), group_->weight};
  const float least = LeastBlockBound(alternatives_[0], spare);
  single_->ForEachRun(
      range, [&](uint32_t block) { return single_->BlockBound(block) >= least; },
      [&](uint32_t begin, uint32_t end) {
        const uint32_t* documents = single_->documents();
        const float* contributions = single_->contributions(scoring);

        uint32_t i = begin;
        for (; i + 8 <= end; i += 8) {
          for (uint32_t j = 0; j < 8; ++j) scores[documents[i + j] - range.base] += contributions[i + j];
        }
        for (; i < end; ++i) scores[documents[i] - range.base] += contributions[i];
        words |= TouchedWords(documents + begin, end - begin, range.base);
      },
      [&](uint32_t block, uint32_t first, std::span<const uint8_t> bits) {
        const uint32_t offset = first - range.base;
        const uint32_t count = AddBitsetContributions(bits, single_->FrequenciesOf(block), norms_ + first, scoring.saturation,
                                                      scoring.weight, scores + offset);
        if (count != single_->list().block_length(block)) throw Error(ErrorCode::kDamaged, "posting list: documents");
        words |= WordRange(offset, offset + 8 * static_cast<uint32_t>(bits.size()) - 1);
      });
  return words;
}

}  // namespace gannet
