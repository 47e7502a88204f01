#include "term_lookup.h"

#include <algorithm>
#include <unordered_map>

#include "../common/error.h"
#include "edit_automaton.h"

namespace gannet {
namespace {

// Stepping over a term costs a comparison, seeking a walk down the B+tree: so many steps are tried before a seek.
constexpr uint32_t kStepsBeforeSeek = 24;

using Frequencies = std::unordered_map<std::string, TermMatch>;

bool IsStoredWhole(std::string_view term) { return term.size() <= kTermPrefixBytes || term[kTermPrefixBytes] != '\0'; }

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
    if (IsStoredWhole(term)) Note(term, 0, document_frequency, found_);
    return ++visited_ < kPrefixTermsVisitedMax;
  }

 private:
  std::string_view prefix_;
  Frequencies* found_;
  uint32_t visited_ = 0;
};

// Visits terms in order; stops when it is worth seeking, and then says where to.
class FuzzyVisitor : public Segment::TermVisitor {
 public:
  FuzzyVisitor(std::string_view term, uint32_t distance, Frequencies* found)
      : automaton_(term, distance), found_(found) {}

  bool Visit(std::string_view term, uint32_t document_frequency) override {
    if (term < seek_) return ++steps_ < kStepsBeforeSeek;
    steps_ = 0;
    if (automaton_.Accept(term)) {
      if (IsStoredWhole(term)) Note(term, automaton_.distance(), document_frequency, found_);
    } else if (automaton_.SkipTo(&seek_) && seek_.empty()) {
      is_done_ = true;
      return false;
    }
    return true;
  }

  void Run(const Segment& segment) {
    do {
      steps_ = 0;
      segment.VisitTerms(seek_, this);
      // Stopped by its end, the dictionary has nothing more.
    } while (!is_done_ && steps_ >= kStepsBeforeSeek);
  }

 private:
  EditAutomaton automaton_;
  Frequencies* found_;
  std::string seek_;
  uint32_t steps_ = 0;
  bool is_done_ = false;
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

std::vector<TermMatch> FindFuzzy(const Generation& generation, std::string_view term, uint32_t distance, size_t limit) {
  if (distance > kFuzzyDistanceMax) throw Error(ErrorCode::kInvalidArgument, "distance is above the maximum");
  Frequencies found;
  if (term.size() > kTermBytesMax) return {};  // Stored under a hash, as are its neighbours but for a few.
  for (const SegmentView& view : generation.segments) FuzzyVisitor(term, distance, &found).Run(*view.segment);
  return BestOf(std::move(found), limit);
}

}  // namespace gannet
