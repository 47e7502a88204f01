#include "strongest_matches.h"

#include <algorithm>

#include "window_removals.h"

namespace gannet {

StrongestMatches::StrongestMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> text,
                                   const KnownMatches& known, float text_floor,
                                   std::span<const SourceShare> parts, bool all_matches)
    : document_count_(document_count),
      all_matches_(all_matches),
      text_floor_(text_floor),
      // Documents below the floor are not counted, so it is enough to find those that reach it.
      text_(segment, document_count, text, known, all_matches && text_floor <= 0) {
  for (const SourceShare& share : parts) {
    std::unique_ptr<SegmentSource> source = share.source->Open(segment, all_matches);
    const float bound = share.Counted(source->Bound());
    parts_.push_back({share, std::move(source), bound});
  }
}

// Scores must be exact from the floor on, because they tell which documents reach it.
float StrongestMatches::TextBar(float bar) const {
  return all_matches_ && text_floor_ > 0 ? text_floor_ : std::max(text_floor_, bar);
}

float StrongestMatches::LeastOf(const Part& part, float bar) const {
  return all_matches_ ? part.share.floor : std::max(part.share.floor, bar * part.share.full * kSlack);
}

uint32_t StrongestMatches::NextWindow(uint32_t from, float bar) {
  uint32_t next = text_.NextWindow(from, TextBar(bar));
  for (const Part& part : parts_) {
    if (MayReach(part, bar)) next = std::min(next, part.source->NextWindow(from, LeastOf(part, bar)));
  }
  return std::min(next, window_count());
}

Window* StrongestMatches::Evaluate(uint32_t window, float bar) {
  Window* text = text_.Evaluate(window, TextBar(bar));
  if (text_floor_ > 0) RemoveBelow(text_floor_, text);
  const WindowRange range{window * kWindowSize, std::min((window + 1) * kWindowSize, document_count_)};
  for (const Part& part : parts_) {
    if (MayReach(part, bar)) Take(part, part.source->Find(range, LeastOf(part, bar)), text);
  }
  if (all_matches_) AddCounted(text);
  text_.Exclude(text);
  return text;
}

void StrongestMatches::AddCounted(Window* window) {
  counted_.Clear();
  for (const Part& part : parts_) part.source->AddCounted(window->range, &counted_);
  if (counted_.used == 0) return;
  scored_.Assign(window->matches);
  window->matches.Unite(counted_);
}

void StrongestMatches::KeepScored(Window* window) const {
  if (counted_.used != 0) window->matches.Intersect(scored_);
}

void StrongestMatches::Take(const Part& part, Window* found, Window* window) const {
  WindowBits& matches = window->matches;
  ForEachWord(found->matches.used, [&](uint32_t word) {
    const float* from = found->scores + word * 64;
    float* to = window->scores + word * 64;
    if (matches.words[word] == 0) {
      // Scores of documents that do not match are undefined, so all are taken.
      for (uint32_t i = 0; i < 64; ++i) to[i] = part.share.Counted(from[i]);
    } else {
      ForEachBit(found->matches.words[word], 0, [&](uint32_t bit) {
        const float counted = part.share.Counted(from[bit]);
        to[bit] = matches.words[word] >> bit & 1 ? std::max(to[bit], counted) : counted;
      });
    }
  });
  matches.Unite(found->matches);
}

}  // namespace gannet
