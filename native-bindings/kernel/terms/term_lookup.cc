#include "term_lookup.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "../analysis/analyzer.h"

namespace gannet {
namespace {

using Frequencies = std::unordered_map<std::string, TermMatch>;

void Note(std::string_view term, uint32_t distance, uint32_t document_frequency, Frequencies* found) {
  TermMatch& match = (*found)[std::string(term)];
  match.distance = distance;
  match.document_frequency += document_frequency;
}

std::vector<TermMatch> BestOf(Frequencies found, size_t limit) {
  std::vector<TermMatch> matches;
  matches.reserve(found.size());
  for (auto& [term, match] : found) {
    match.term = term;
    matches.push_back(std::move(match));
  }
  const auto kept = std::min(limit, matches.size());
  std::partial_sort(matches.begin(), matches.begin() + static_cast<ptrdiff_t>(kept), matches.end(),
                    [](const TermMatch& a, const TermMatch& b) {
                      if (a.distance != b.distance) return a.distance < b.distance;
                      if (a.document_frequency != b.document_frequency) {
                        return a.document_frequency > b.document_frequency;
                      }
                      return a.term < b.term;
                    });
  matches.resize(kept);
  return matches;
}

class PrefixVisitor : public Segment::TermVisitor {
 public:
  PrefixVisitor(std::string_view prefix, Frequencies* found) : prefix_(prefix), found_(found) {}

  bool Visit(std::string_view term, uint32_t document_frequency) override {
    if (!term.starts_with(prefix_)) return false;
    if (IsWholeTerm(term)) Note(term, 0, document_frequency, found_);
    return ++visited_ < kPrefixTermsVisitedMax;
  }

 private:
  std::string_view prefix_;
  Frequencies* found_;
  uint32_t visited_ = 0;
};

uint64_t DocumentFrequency(const Generation& generation, std::string_view term) {
  uint64_t frequency = 0;
  for (const SegmentView& view : generation.segments) frequency += view.segment->FindTerm(term).document_frequency();
  return frequency;
}

bool IsCharacterStart(char byte) { return (static_cast<uint8_t>(byte) & 0xC0u) != 0x80u; }

}  // namespace

std::vector<uint64_t> DocumentFrequencies(const Generation& generation, std::span<const std::string_view> terms) {
  std::vector<uint64_t> frequencies;
  frequencies.reserve(terms.size());
  for (const std::string_view term : terms) frequencies.push_back(DocumentFrequency(generation, term));
  return frequencies;
}

std::vector<SplitFrequencies> FindSplits(const Generation& generation, std::string_view word) {
  std::vector<size_t> places;  // where a character begins, except the first one, and the end
  for (size_t i = 1; i < word.size(); ++i) {
    if (IsCharacterStart(word[i])) places.push_back(i);
  }
  std::vector<SplitFrequencies> splits;
  splits.reserve(places.size());
  std::string joined;
  const auto join = [&](size_t place, char mark) -> std::string_view {
    joined.assign(word.substr(0, place)).append(1, mark).append(word.substr(place));
    return joined;
  };
  for (const size_t place : places) {
    SplitFrequencies split;
    // The longer part is the one that is more likely to be missing.
    std::string_view longer = word.substr(0, place);
    std::string_view shorter = word.substr(place);
    if (longer.size() < shorter.size()) std::swap(longer, shorter);
    split.rarer_part = DocumentFrequency(generation, longer);
    if (split.rarer_part > 0) split.rarer_part = std::min(split.rarer_part, DocumentFrequency(generation, shorter));
    if (split.rarer_part > 0 || place == places.front() || place == places.back()) {
      split.with_full_stop = DocumentFrequency(generation, join(place, '.'));
      split.with_low_line = DocumentFrequency(generation, join(place, '_'));
    }
    splits.push_back(split);
  }
  return splits;
}

std::vector<TermMatch> FindPrefix(const Generation& generation, std::string_view prefix, size_t limit) {
  Frequencies found;
  for (const SegmentView& view : generation.segments) {
    PrefixVisitor visitor(prefix, &found);
    view.segment->VisitTerms(prefix, &visitor);
  }
  return BestOf(std::move(found), limit);
}

}  // namespace gannet
