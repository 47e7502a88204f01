#include "combined_matches.h"

#include <algorithm>
#include <numeric>

#include "../window/selection.h"

namespace gannet {

CombinedMatches::CombinedMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> shares,
                                 bool all_matches)
    : document_count_(document_count),
      window_count_((document_count + kWindowSize - 1) / kWindowSize),
      all_matches_(all_matches),
      by_bound_(shares.size()),
      finders_(shares.size()) {
  for (const SourceShare& share : shares) {
    std::unique_ptr<SegmentSource> source = share.source->Open(segment, all_matches);
    const float bound = share.Counted(source->Bound());
    bound_ += bound;
    parts_.push_back({share, std::move(source), bound});
  }
  std::iota(by_bound_.begin(), by_bound_.end(), 0u);
  // What only scores what others find stands last, so that it never is a finder.
  std::ranges::stable_sort(by_bound_, [&](uint32_t a, uint32_t b) {
    const auto rank = [&](uint32_t i) { return std::pair(parts_[i].share.adds_matches, parts_[i].bound); };
    return rank(a) > rank(b);
  });
  while (finders_ > 0 && !parts_[by_bound_[finders_ - 1]].share.adds_matches) --finders_;
}

// What a document has to score by this source to reach the bar when it has the most by all others.
float CombinedMatches::LeastOf(const Part& part, float bar) const {
  if (part.share.weight <= 0) return 0;
  const float counted = std::max(0.0f, (bar * kSlack - (bound_ - part.bound)) / part.share.weight);
  const float least = counted * part.share.full;
  return part.share.floor > 0 ? std::min(least, part.share.floor) : least;
}

// Of those that find, drops the last ones that together with all that may score what they do not find stay below the bar.
void CombinedMatches::ChooseFinders(float bar) {
  if (all_matches_ || bar <= 0) return;
  float rest = 0;
  for (size_t i = 0; i < by_bound_.size(); ++i) {
    const Part& part = parts_[by_bound_[i]];
    if (i >= finders_ || part.source->CompletesOthers()) rest += part.bound;
  }
  while (finders_ > 0) {
    const Part& last = parts_[by_bound_[finders_ - 1]];
    const float with_last = last.source->CompletesOthers() ? rest : rest + last.bound;
    if (with_last >= bar * kSlack) return;
    rest = with_last;
    --finders_;
  }
}

uint32_t CombinedMatches::NextWindow(uint32_t from, float bar) {
  ChooseFinders(bar);
  uint32_t next = window_count_;
  for (size_t i = 0; i < finders_; ++i) {
    const Part& part = parts_[by_bound_[i]];
    next = std::min(next, part.source->NextWindow(from, all_matches_ ? 0 : LeastOf(part, bar)));
  }
  return next;
}

Window* CombinedMatches::Evaluate(uint32_t window, float bar) {
  ChooseFinders(bar);
  WipeWords(window_.scores, score_words_);
  score_words_ = 0;
  window_.range = {window * kWindowSize, std::min((window + 1) * kWindowSize, document_count_)};
  window_.matches.Clear();
  float to_come = 0;
  for (Part& part : parts_) {
    part.found = nullptr;
    part.window_bound = part.share.Counted(part.source->Bound(window_.range));
    to_come += part.window_bound;
  }
  const float least = bar * kSlack;
  if (!all_matches_ && to_come < least) return &window_;
  const auto at = [&](size_t i) -> Part& { return parts_[by_bound_[i]]; };
  for (size_t i = 0; i < finders_; ++i) {
    Keep(&at(i), at(i).source->Find(window_.range, LeastOf(at(i), bar)));
    window_.matches.Unite(at(i).found->matches);
    if (!at(i).source->CompletesOthers()) to_come -= at(i).window_bound;
  }
  for (size_t i = 0; i < finders_; ++i) {
    if (!at(i).source->CompletesOthers()) continue;
    SetReaching(least, to_come, at(i).found);
    at(i).source->Complete(window_.range, reaching_, at(i).found);
    to_come -= at(i).window_bound;
  }
  for (size_t i = finders_; i < by_bound_.size(); ++i) {
    SetReaching(least, to_come, nullptr);
    if (!all_matches_) window_.matches.Assign(reaching_);
    if (!window_.matches.Any()) break;
    Keep(&at(i), at(i).source->FindAmong(window_.range, reaching_, LeastOf(at(i), bar)));
    to_come -= at(i).window_bound;
  }
  Exclude(&window_);
  Sum();
  return &window_;
}

void CombinedMatches::Exclude(Window* window) const {
  for (const Part& part : parts_) part.source->Exclude(window);
}

void CombinedMatches::Keep(Part* part, Window* found) {
  part->found = found;
  if (part->share.floor <= 0) return;
  uint64_t passing[kWindowWords];
  CompareWords(found->scores, part->share.floor, found->matches.used, passing);
  ForEachWord(found->matches.used, [&](uint32_t word) { found->matches.words[word] &= passing[word]; });
}

float CombinedMatches::SumOf(uint32_t offset) const {
  float sum = 0;
  for (const Part& part : parts_) {
    if (part.found != nullptr && part.found->matches.Contains(offset)) sum += part.share.Counted(part.found->scores[offset]);
  }
  return sum;
}

// Of the matches those that may reach `least` with what is to come, but for what `found` has already.
void CombinedMatches::SetReaching(float least, float to_come, const Window* found) {
  reaching_.Assign(window_.matches);
  if (found != nullptr) reaching_.Subtract(found->matches);
  if (to_come >= least) return;
  ForEachWord(reaching_.used, [&](uint32_t word) {
    ForEachBit(reaching_.words[word], word * 64, [&](uint32_t offset) {
      if (SumOf(offset) + to_come < least) reaching_.Remove(offset);
    });
  });
}

void CombinedMatches::Sum() {
  score_words_ = window_.matches.used;
  ForEachBit(window_.matches, [&](uint32_t offset) { window_.scores[offset] = SumOf(offset); });
}

}  // namespace gannet
