#include "union_matcher.h"

#include <algorithm>
#include <bit>

namespace gannet {

UnionMatcher::UnionMatcher(std::span<GroupEvaluator* const> groups, uint32_t document_count,
                           std::vector<uint64_t>* bits)
    : groups_(groups),
      document_count_(document_count),
      window_count_((document_count + kWindowSize - 1) / kWindowSize),
      bits_(*bits) {
  bits_.resize(kSpanWords);
}

uint32_t UnionMatcher::NextWindow(uint32_t from) {
  while (from < window_count_) {
    if (from / kSpanWindows != span_) Fill(from / kSpanWindows);
    const uint64_t left = windows_ >> (from % kSpanWindows);
    if (left != 0) return from + static_cast<uint32_t>(std::countr_zero(left));
    from = (span_ + 1) * kSpanWindows;
  }
  return window_count_;
}

void UnionMatcher::Match(Window* window) {
  const uint32_t index = window->range.base / kWindowSize;
  if (index / kSpanWindows != span_) Fill(index / kSpanWindows);
  window->matches.Clear();
  if (!(windows_ >> (index % kSpanWindows) & 1)) return;
  const uint64_t* from = bits_.data() + index % kSpanWindows * kWindowWords;
  uint64_t used = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    window->matches.words[word] = from[word];
    used |= uint64_t{from[word] != 0} << word;
  }
  window->matches.used = used;
}

void UnionMatcher::Fill(uint32_t span) {
  span_ = span;
  windows_ = 0;
  std::fill(bits_.begin(), bits_.end(), 0);
  const uint32_t base = span * kSpanWindows * kWindowSize;
  const WindowRange range{base, std::min(document_count_, base + kSpanWindows * kWindowSize)};
  for (GroupEvaluator* group : groups_) windows_ |= group->MarkTerms(range, bits_.data());
  // Phrases are looked for where no word has matched.
  for (GroupEvaluator* group : groups_) windows_ |= group->MarkPhrases(range, bits_.data());
}

}  // namespace gannet
