#include "completion_lookup.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>

#include "../analysis/analyzer.h"
#include "../analysis/utf8.h"
#include "../common/error.h"
#include "../common/stop.h"
#include "hopeless_prefix.h"
#include "prefix_distance.h"

namespace gannet {
namespace {

// Number of candidates per segment: more than are wanted, because the order of the sums may differ from the order
// within a segment.
constexpr size_t kCandidatesMax = 3 * kCompletionsMax;
// An answer for which fewer terms were examined is not worth its place in the cache.
constexpr uint32_t kVisitsWorthKeeping = 512;

template <typename Match>
bool IsBefore(const Match& a, const Match& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.document_frequency != b.document_frequency) return a.document_frequency > b.document_frequency;
  return a.term < b.term;
}

// Keeps the best terms of one segment without making a string of each examined term, which would take most of the time.
class CandidateHeap {
 public:
  // Adds a term. Terms must come in byte order: of equal ones, the later is worse.
  void Add(std::string_view term, uint32_t distance, uint32_t document_frequency) {
    std::vector<Completion>& best = result_.best;
    if (best.size() == kCandidatesMax) {
      result_.is_complete = false;
      // The front is the worst.
      const Completion& worst = best.front();
      if (distance > worst.distance) return;
      if (distance == worst.distance && document_frequency <= worst.document_frequency) return;
      std::pop_heap(best.begin(), best.end(), IsBefore<Completion>);
      best.pop_back();
    }
    best.push_back({std::string(term), distance, document_frequency});
    std::push_heap(best.begin(), best.end(), IsBefore<Completion>);
  }
  void Stop() { result_.is_complete = false; }
  SegmentCompletions Take() {
    std::sort_heap(result_.best.begin(), result_.best.end(), IsBefore<Completion>);
    return std::move(result_);
  }

 private:
  SegmentCompletions result_;
};

using Completions = std::shared_ptr<const SegmentCompletions>;

Completions FindExact(const Segment& segment, std::string_view prefix) {
  const std::string key(prefix);
  if (const auto kept = segment.cache().completions.Find(key)) return *kept;
  CandidateHeap heap;
  const auto terms = segment.Terms(prefix);
  uint32_t visited = 0;
  while (terms->Next() && terms->term().starts_with(prefix)) {
    StopIfAsked();
    if (IsWholeTerm(terms->term())) heap.Add(terms->term(), 0, terms->document_frequency());
    if (++visited < kCompletionTermsVisitedMax) continue;
    heap.Stop();
    break;
  }
  auto found = std::make_shared<const SegmentCompletions>(heap.Take());
  if (visited >= kVisitsWorthKeeping) segment.cache().completions.Keep(key, found);
  return found;
}

Completions FindNear(const Segment& segment, std::string_view prefix, uint32_t edits) {
  const std::string_view first = prefix.substr(0, DecodeUtf8(prefix.data(), prefix.size()).length);
  CandidateHeap heap;
  PrefixDistance distance(prefix, edits);
  HopelessPrefix hopeless;
  const auto terms = segment.Terms(first);
  for (uint32_t visited = 0; terms->Next() && terms->term().starts_with(first);) {
    StopIfAsked();
    const std::string_view term = terms->term();
    const uint32_t found = distance.Of(term);
    if (found <= edits) {
      if (IsWholeTerm(term)) heap.Add(term, found, terms->document_frequency());
    } else if (hopeless.ShouldJump(distance.decided_prefix())) {
      terms->Seek(hopeless.After());
    }
    if (++visited < kCompletionTermsVisitedMax) continue;
    heap.Stop();
    break;
  }
  return std::make_shared<const SegmentCompletions>(heap.Take());
}

// Sums the frequencies over the segments. A term that is not among the best of a segment is looked up there, but only
// if it could be among the best overall.
class FrequencySums {
 public:
  FrequencySums(const Generation& generation, std::vector<Completions> lists)
      : generation_(generation), lists_(std::move(lists)) {
    for (uint32_t segment = 0; segment < lists_.size(); ++segment) {
      for (const Completion& completion : lists_[segment]->best) {
        const auto [entry, is_new] = places_.try_emplace(completion.term, sums_.size());
        if (is_new) sums_.push_back({completion.term, completion.distance, 0, {}});
        sums_[entry->second].document_frequency += completion.document_frequency;
        sums_[entry->second].segments.push_back(segment);
      }
    }
  }

  std::vector<TermMatch> Best(size_t limit) {
    if (sums_.size() > limit) DropHopeless(limit);
    std::vector<TermMatch> best;
    for (const Sum& sum : sums_) {
      StopIfAsked();
      best.push_back({std::string(sum.term), sum.distance, sum.document_frequency});
      VisitUnknown(sum, [&](uint32_t segment) {
        best.back().document_frequency += generation_.segments[segment].segment->FindTerm(sum.term).document_frequency();
      });
    }
    std::sort(best.begin(), best.end(), IsBefore<TermMatch>);
    if (best.size() > limit) best.resize(limit);
    return best;
  }

 private:
  struct Sum {
    std::string_view term;  // in lists_
    uint32_t distance;
    uint64_t document_frequency;     // in the segments that have it among their best
    std::vector<uint32_t> segments;  // those segments, ascending
  };

  // Calls visit(segment) for the segments that may have the term, but not among their best.
  template <typename Visit>
  void VisitUnknown(const Sum& sum, Visit visit) const {
    for (uint32_t segment = 0; segment < lists_.size(); ++segment) {
      if (lists_[segment]->is_complete || std::ranges::binary_search(sum.segments, segment)) continue;
      visit(segment);
    }
  }

  // Returns the most that the sum can be: such a segment adds at most the frequency of its last best term, if that is
  // as near or farther.
  uint64_t MostOf(const Sum& sum) const {
    uint64_t most = sum.document_frequency;
    VisitUnknown(sum, [&](uint32_t segment) {
      const std::vector<Completion>& best = lists_[segment]->best;
      // Nothing is known if the look-up stopped early or kept only nearer terms.
      const bool is_bounded = best.size() == kCandidatesMax && best.back().distance >= sum.distance;
      most += is_bounded ? best.back().document_frequency
                         : uint64_t{generation_.segments[segment].segment->document_count()};
    });
    return most;
  }

  void DropHopeless(size_t limit) {
    const auto last = sums_.begin() + static_cast<ptrdiff_t>(limit - 1);
    std::nth_element(sums_.begin(), last, sums_.end(), IsBefore<Sum>);
    const uint32_t distance = last->distance;
    const uint64_t document_frequency = last->document_frequency;
    const auto is_hopeless = [&](const Sum& sum) {
      return sum.distance > distance || (sum.distance == distance && MostOf(sum) < document_frequency);
    };
    sums_.erase(std::remove_if(last + 1, sums_.end(), is_hopeless), sums_.end());
  }

  const Generation& generation_;
  std::vector<Completions> lists_;  // by segment
  std::unordered_map<std::string_view, size_t> places_;
  std::vector<Sum> sums_;
};

}  // namespace

std::vector<TermMatch> CompleteWord(const Generation& generation, std::string_view prefix, uint32_t edits,
                                    size_t limit) {
  if (edits > kFuzzyDistanceMax) throw Error(ErrorCode::kInvalidArgument, "edits are above the maximum");
  if (limit > kCompletionsMax) throw Error(ErrorCode::kInvalidArgument, "more completions than the maximum");
  if (prefix.empty() || limit == 0 || prefix.size() > kTermPrefixBytes) return {};
  std::vector<Completions> lists;
  for (const SegmentView& view : generation.segments) {
    lists.push_back(edits == 0 ? FindExact(*view.segment, prefix) : FindNear(*view.segment, prefix, edits));
  }
  return FrequencySums(generation, std::move(lists)).Best(limit);
}

}  // namespace gannet
