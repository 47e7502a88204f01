#include "completion_lookup.h"

#include <algorithm>
#include <string>

#include "../analysis/utf8.h"
#include "../common/error.h"
#include "prefix_distance.h"

namespace gannet {
namespace {

// Of each segment, more than are wanted, since the order of the sums may differ from that of a segment.
constexpr size_t kCandidatesPerWanted = 4;

bool IsStoredWhole(std::string_view term) { return term.size() <= kTermPrefixBytes || term[kTermPrefixBytes] != '\0'; }

bool IsBefore(const TermMatch& a, const TermMatch& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.document_frequency != b.document_frequency) return a.document_frequency > b.document_frequency;
  return a.term < b.term;
}

// Keeps the best `limit` of what one segment has; making a string of each term would cost most of the time.
class CompletionVisitor : public Segment::TermVisitor {
 public:
  CompletionVisitor(std::string_view range, std::string_view prefix, uint32_t edits, size_t limit)
      : range_(range), prefix_(prefix), edits_(edits), limit_(limit), distance_(prefix, edits) {}

  bool Visit(std::string_view term, uint32_t document_frequency) override {
    if (!term.starts_with(range_)) return false;
    const uint32_t distance = edits_ == 0 || term.starts_with(prefix_) ? 0 : distance_.Of(term);
    if (distance <= edits_ && IsStoredWhole(term)) Keep(term, distance, document_frequency);
    return ++visited_ < kCompletionTermsVisitedMax;
  }

  std::vector<TermMatch>& best() { return best_; }

 private:
  void Keep(std::string_view term, uint32_t distance, uint32_t document_frequency) {
    if (best_.size() == limit_) {
      // The front is the worst. Terms come in order, so of equals the later one is worse.
      const TermMatch& worst = best_.front();
      if (distance > worst.distance) return;
      if (distance == worst.distance && document_frequency <= worst.document_frequency) return;
      std::pop_heap(best_.begin(), best_.end(), IsBefore);
      best_.pop_back();
    }
    best_.push_back({std::string(term), distance, document_frequency});
    std::push_heap(best_.begin(), best_.end(), IsBefore);
  }

  std::string_view range_;
  std::string_view prefix_;
  uint32_t edits_;
  size_t limit_;
  PrefixDistance distance_;
  std::vector<TermMatch> best_;
  uint32_t visited_ = 0;
};

}  // namespace

std::vector<TermMatch> CompleteWord(const Generation& generation, std::string_view prefix, uint32_t edits,
                                    size_t limit) {
  if (edits > kFuzzyDistanceMax) throw Error(ErrorCode::kInvalidArgument, "edits are above the maximum");
  if (prefix.empty() || limit == 0 || prefix.size() > kTermPrefixBytes) return {};
  const std::string_view range =
      edits == 0 ? prefix : prefix.substr(0, DecodeUtf8(prefix.data(), prefix.size()).length);
  std::vector<TermMatch> found;
  for (const SegmentView& view : generation.segments) {
    CompletionVisitor visitor(range, prefix, edits, limit * kCandidatesPerWanted);
    view.segment->VisitTerms(range, &visitor);
    std::move(visitor.best().begin(), visitor.best().end(), std::back_inserter(found));
  }
  std::sort(found.begin(), found.end(), [](const TermMatch& a, const TermMatch& b) { return a.term < b.term; });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const TermMatch& a, const TermMatch& b) { return a.term == b.term; }),
              found.end());
  if (generation.segments.size() > 1) {
    for (TermMatch& match : found) {
      match.document_frequency = 0;
      for (const SegmentView& view : generation.segments) {
        match.document_frequency += view.segment->FindTerm(match.term).document_frequency();
      }
    }
  }
  std::sort(found.begin(), found.end(), IsBefore);
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace gannet
