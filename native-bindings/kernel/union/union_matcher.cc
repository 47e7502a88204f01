#include "union_matcher.h"

#include <algorithm>
#include <bit>

#include "../common/bits.h"
#include "../common/stop.h"

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
    StopIfAsked();
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

WindowRange UnionMatcher::RangeOf(uint32_t span) const {
  const uint32_t base = span * kSpanWindows * kWindowSize;
  return {base, std::min(document_count_, base + kSpanWindows * kWindowSize)};
}

void UnionMatcher::Fill(uint32_t span) {
  span_ = span;
  std::fill(bits_.begin(), bits_.end(), 0);
  windows_ = Mark(RangeOf(span), nullptr);
}

uint64_t UnionMatcher::Mark(WindowRange range, const GroupEvaluator* left_out) {
  uint64_t windows = 0;
  for (GroupEvaluator* group : groups_) {
    if (group != left_out) windows |= group->MarkTerms(range, bits_.data());
  }
  // Phrases are searched for only where no word has matched.
  for (GroupEvaluator* group : groups_) {
    if (group != left_out) windows |= group->MarkPhrases(range, bits_.data());
  }
  return windows;
}

// The longest list need not be marked: it is enough to count its postings that are not marked yet. Its blocks between
// the documents of the other lists are not even read.
uint64_t UnionMatcher::Count(const DeletionSet& deletions) {
  GroupEvaluator* longest = nullptr;
  for (GroupEvaluator* group : groups_) {
    if (group->is_single_term() && (longest == nullptr || group->cost() > longest->cost())) longest = group;
  }
  uint64_t count = 0;
  for (uint32_t first = 0; first < window_count_; first += kSpanWindows) {
    StopNowIfAsked();
    const WindowRange range = RangeOf(first / kSpanWindows);
    const uint32_t words = (range.end - range.base + 63) / 64;
    std::fill_n(bits_.begin(), words, 0);
    if (deletions.deleted_count > 0) {
      // Deleted documents are marked first, and are not counted.
      for (uint32_t window = first; window < std::min(first + kSpanWindows, window_count_); ++window) {
        const auto& chunk = deletions.chunks[window];
        if (chunk) std::ranges::copy(*chunk, bits_.begin() + (window - first) * kWindowWords);
      }
      count -= CountBits(bits_.data(), words);
    }
    Mark(range, longest);
    count += CountBits(bits_.data(), words);
    if (longest != nullptr) count += longest->CountUnmarked(range, bits_.data());
  }
  return count;
}

}  // namespace gannet
