#include "term_lookup.h"

#include <algorithm>
#include <unordered_map>

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

}  // namespace

std::vector<uint64_t> DocumentFrequencies(const Generation& generation, std::span<const std::string_view> terms) {
  std::vector<uint64_t> frequencies(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    for (const SegmentView& view : generation.segments) {
      frequencies[i] += view.segment->FindTerm(terms[i]).document_frequency();
    }
  }
  return frequencies;
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
