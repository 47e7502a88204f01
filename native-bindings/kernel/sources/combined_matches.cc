#include "combined_matches.h"

#include <algorithm>
#include <numeric>

#include "../window/selection.h"

namespace gannet {

namespace {

// If `rests` is not null, the first source scores the documents without their rests, and `rests` receives upper bounds
// of these.
std::vector<KnownDocument> StrongestOf(uint32_t segment, std::span<const SourceShare> shares, std::vector<float>* rests) {
  std::vector<uint32_t> documents;
  for (const SourceShare& share : shares) {
    const std::span<const uint32_t> strongest = share.source->Strongest(segment);
    documents.insert(documents.end(), strongest.begin(), strongest.end());
  }
  if (documents.empty()) return {};
  std::ranges::sort(documents);
  const auto repeated = std::ranges::unique(documents);
  documents.erase(repeated.begin(), repeated.end());
  std::vector<KnownDocument> known;
  for (const uint32_t document : documents) known.push_back({document});
  std::vector<float> scores(documents.size());
  for (const SourceShare& share : shares) {
    const bool is_first = &share == &shares.front();
    if (is_first && rests != nullptr) {
      rests->resize(documents.size());
      share.source->ScoresButRests(segment, documents, scores.data(), rests->data());
    } else {
      share.source->ScoresOf(segment, documents, scores.data());
    }
    for (size_t i = 0; i < known.size(); ++i) {
      if (scores[i] <= 0 || scores[i] < share.floor) continue;
      const float counted = share.Counted(scores[i]);
      known[i].score += counted;
      if (is_first) known[i].by_first = scores[i]; else known[i].by_others += counted;
    }
  }
  return known;
}

}  // namespace

KnownMatches::KnownMatches(const Generation& generation, std::span<const SourceShare> shares, size_t whole) {
  std::vector<std::vector<float>> rests(generation.segments.size());
  for (uint32_t segment = 0; segment < generation.segments.size(); ++segment) {
    strongest.push_back(StrongestOf(segment, shares, whole > 0 ? &rests[segment] : nullptr));
  }
  if (whole > 0) Complete(shares, rests, whole);
  certain = Reached(1);
}

// Documents that cannot be among the best with their whole rest stay without it.
void KnownMatches::Complete(std::span<const SourceShare> shares, std::span<const std::vector<float>> rests, size_t whole) {
  const SourceShare& first = shares.front();
  const float bar = Reached(whole) * kSlack;
  for (uint32_t segment = 0; segment < strongest.size(); ++segment) {
    for (size_t i = 0; i < strongest[segment].size(); ++i) {
      KnownDocument& known = strongest[segment][i];
      const float rest = rests[segment][i];
      if (rest <= 0 || known.score + first.Counted(rest) < bar) continue;
      known.by_first += first.source->RestOf(segment, known.document);
      known.score = first.Counted(known.by_first) + known.by_others;
    }
  }
}

const KnownDocument* KnownMatches::Find(uint32_t segment, uint32_t document) const {
  if (segment >= strongest.size()) return nullptr;
  const auto found = std::ranges::lower_bound(strongest[segment], document, {}, &KnownDocument::document);
  return found != strongest[segment].end() && found->document == document ? &*found : nullptr;
}

float KnownMatches::Reached(size_t documents) const {
  std::vector<float> scores;
  for (const std::vector<KnownDocument>& of_segment : strongest) {
    for (const KnownDocument& each : of_segment) scores.push_back(each.score);
  }
  if (documents == 0 || scores.size() < documents) return 0;
  const auto last = scores.begin() + static_cast<ptrdiff_t>(documents - 1);
  std::ranges::nth_element(scores, last, std::ranges::greater{});
  return *last;
}

CombinedMatches::CombinedMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> shares,
                                 const KnownMatches& known, bool all_matches)
    : document_count_(document_count),
      window_count_((document_count + kWindowSize - 1) / kWindowSize),
      all_matches_(all_matches),
      by_bound_(shares.size()),
      finders_(shares.size()),
      known_(known.strongest[segment]),
      certain_(known.certain) {
  for (const SourceShare& share : shares) {
    std::unique_ptr<SegmentSource> source = share.source->Open(segment, all_matches);
    const float bound = share.Counted(source->Bound());
    bound_ += bound;
    parts_.push_back({share, std::move(source), bound});
  }
  std::iota(by_bound_.begin(), by_bound_.end(), 0u);
  // Sources that only score what others find come last, so that they never become finders.
  std::ranges::stable_sort(by_bound_, [&](uint32_t a, uint32_t b) {
    const auto rank = [&](uint32_t i) { return std::pair(parts_[i].share.adds_matches, parts_[i].bound); };
    return rank(a) > rank(b);
  });
  while (finders_ > 0 && !parts_[by_bound_[finders_ - 1]].share.adds_matches) --finders_;
}

// Returns what a document must score by this source to reach the bar if it has the most by all others.
float CombinedMatches::LeastOf(const Part& part, float bar) const {
  if (part.share.weight <= 0) return 0;
  const float counted = std::max(0.0f, (bar * kSlack - (bound_ - part.bound)) / part.share.weight);
  const float least = counted * part.share.full;
  return part.share.floor > 0 ? std::min(least, part.share.floor) : least;
}

// Drops the last finders as long as they, together with all sources that can score documents that they do not find,
// stay below the bar.
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

// A document that may be completed with its whole score must not be ruled out by what is expected of it.
float CombinedMatches::Held(float bar) const { return certain_ > 0 ? std::min(bar, certain_) : bar; }

uint32_t CombinedMatches::NextWindow(uint32_t from, float reached) {
  const float bar = Held(reached);
  ChooseFinders(bar);
  uint32_t next = window_count_;
  for (size_t i = 0; i < finders_; ++i) {
    const Part& part = parts_[by_bound_[i]];
    next = std::min(next, part.source->NextWindow(from, all_matches_ ? 0 : LeastOf(part, bar)));
  }
  for (size_t i = next_known_; i < known_.size() && known_[i].document / kWindowSize < next; ++i) {
    if (known_[i].document / kWindowSize >= from && (all_matches_ || known_[i].score >= reached)) return known_[i].document / kWindowSize;
  }
  return next;
}

Window* CombinedMatches::Evaluate(uint32_t window, float reached) {
  const float bar = Held(reached);
  ChooseFinders(bar);
  WipeWords(window_.scores, score_words_);
  score_words_ = 0;
  window_.range = {window * kWindowSize, std::min((window + 1) * kWindowSize, document_count_)};
  window_.matches.Clear();
  FindOfSources(bar);
  AddKnown();
  Exclude(&window_);
  Sum();
  return &window_;
}

void CombinedMatches::FindOfSources(float bar) {
  float to_come = 0;
  for (Part& part : parts_) {
    part.found = nullptr;
    part.window_bound = part.share.Counted(part.source->Bound(window_.range));
    to_come += part.window_bound;
  }
  const float least = bar * kSlack;
  if (!all_matches_ && to_come < least) return;
  const auto at = [&](size_t i) -> Part& { return parts_[by_bound_[i]]; };
  for (size_t i = 0; i < finders_; ++i) {
    Keep(&at(i), at(i).source->Find(window_.range, LeastOf(at(i), bar)));
    window_.matches.Unite(at(i).found->matches);
    if (!at(i).source->CompletesOthers()) to_come -= at(i).window_bound;
  }
  for (size_t i = 0; i < finders_; ++i) {
    if (!at(i).source->CompletesOthers()) continue;
    Complete(&at(i), least, to_come);
    to_come -= at(i).window_bound;
  }
  for (size_t i = finders_; i < by_bound_.size(); ++i) {
    SetReaching(least, to_come, nullptr);
    if (!all_matches_) window_.matches.Assign(reaching_);
    if (!window_.matches.Any()) break;
    if (at(i).source->CompletesOthers()) {
      Keep(&at(i), at(i).source->Find(window_.range, LeastOf(at(i), bar)));
      Complete(&at(i), least, to_come);
    } else {
      Keep(&at(i), at(i).source->FindAmong(window_.range, reaching_, LeastOf(at(i), bar)));
    }
    to_come -= at(i).window_bound;
  }
}

// Completes the matches that may reach `least`.
void CombinedMatches::Complete(Part* part, float least, float to_come) {
  SetReaching(least, to_come, part->found);
  if (!reaching_.Any()) return;
  rest_.Assign(reaching_);
  if (certain_ > 0) {
    SetReaching(certain_ * kSlack, to_come, part->found);
    rest_.Subtract(reaching_);
    part->source->Complete(window_.range, reaching_, ScoreLimit::kNone, part->found);
  }
  part->source->Complete(window_.range, rest_, ScoreLimit::kBound, part->found);
}

void CombinedMatches::AddKnown() {
  while (next_known_ < known_.size() && known_[next_known_].document < window_.range.base) ++next_known_;
  for (size_t i = next_known_; i < known_.size() && known_[i].document < window_.range.end; ++i) {
    window_.matches.Add(known_[i].document - window_.range.base);
  }
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

// Sets reaching_ to the matches that may reach `least` with `to_come`, without those that `found` has already.
void CombinedMatches::SetReaching(float least, float to_come, const Window* found) {
  reaching_.Assign(window_.matches);
  if (found != nullptr) reaching_.Subtract(found->matches);
  if (to_come >= least) return;
  uint64_t several = reaching_.used;
  for (const Part& part : parts_) {
    const uint64_t alone = WordsOf(part) & reaching_.used;
    several &= ~alone;
    if (alone == 0) continue;
    uint64_t passing[kWindowWords];
    CompareWords(part.found->scores, (least - to_come) / part.share.weight * part.share.full, alone, passing);
    ForEachWord(alone, [&](uint32_t word) { reaching_.words[word] &= passing[word]; });
  }
  ForEachWord(several, [&](uint32_t word) {
    ForEachBit(reaching_.words[word], word * 64, [&](uint32_t offset) {
      if (SumOf(offset) + to_come < least) reaching_.Remove(offset);
    });
  });
}

// Returns the words of the window in which only this part found documents.
uint64_t CombinedMatches::WordsOf(const Part& alone) const {
  if (alone.found == nullptr || alone.share.weight <= 0) return 0;
  uint64_t words = alone.found->matches.Occupied();
  for (const Part& part : parts_) {
    if (&part != &alone && part.found != nullptr) words &= ~part.found->matches.Occupied();
  }
  return words;
}

void CombinedMatches::Sum() {
  score_words_ = window_.matches.used;
  uint64_t several = window_.matches.used;
  for (const Part& part : parts_) {
    const uint64_t alone = WordsOf(part) & window_.matches.used;
    several &= ~alone;
    ForEachWord(alone, [&](uint32_t word) {
      const float* from = part.found->scores + word * 64;
      float* to = window_.scores + word * 64;
      for (uint32_t i = 0; i < 64; ++i) to[i] = part.share.Counted(from[i]);
    });
  }
  ForEachWord(several, [&](uint32_t word) {
    ForEachBit(window_.matches.words[word], word * 64, [&](uint32_t offset) { window_.scores[offset] = SumOf(offset); });
  });
  for (; next_known_ < known_.size() && known_[next_known_].document < window_.range.end; ++next_known_) {
    const uint32_t offset = known_[next_known_].document - window_.range.base;
    // It may have been excluded.
    if (window_.matches.Contains(offset)) window_.scores[offset] = known_[next_known_].score;
  }
}

}  // namespace gannet
