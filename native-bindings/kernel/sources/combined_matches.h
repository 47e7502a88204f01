// The documents of a segment that several sources find, with the sum of their scores: MAXSCORE (Turtle and Flood 1995) over sources.
// Those without which no document can reach the bar find, the others are asked about what was found and still may reach it.
//
// The sum is made in the order of the sources, so that a document scores the same, to the bit, whichever of them found it.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../window/window.h"
#include "source.h"

namespace gannet {

struct KnownDocument {
  uint32_t document;
  float score = 0;      // the sum, as CombinedMatches would have it, to the bit
  float by_first = 0;   // what it scores by the first of the sources; 0 where that does not find it
  float by_others = 0;  // what these add to the sum
};

// What is known of the sum before anything else is found.
struct KnownMatches {
  // By segment, ascending: the strongest of all sources, which need not keep to the bounds of these.
  std::vector<std::vector<KnownDocument>> strongest;
  // What the best of them scores; 0 where there is none. What may reach it with the bound of a source that completes others is completed with all that it
  // has, whatever the bar, and what may not within the bound: so that neither depends on the page.
  float certain = 0;
  // Whether such a source has a document that has `sum` of what is summed before held to its bound.
  ScoreLimit LimitOf(float sum, const SourceShare& share) const {
    const bool may_reach = sum + share.Counted(share.source->OthersBound()) >= certain * kSlack;
    return certain > 0 && may_reach ? ScoreLimit::kNone : ScoreLimit::kBound;
  }

  KnownMatches() = default;
  // `whole`: at least so many of the best have their whole scores, and others, which are behind these, may have less; 0: all have. Above 0 there are two sources.
  KnownMatches(const Generation& generation, std::span<const SourceShare> shares, size_t whole);
  // Null where it is not one of the strongest.
  const KnownDocument* Find(uint32_t segment, uint32_t document) const;
  // A score that so many of them have; 0 where there are not so many.
  float Reached(size_t documents) const;

 private:
  void Complete(std::span<const SourceShare> shares, std::span<const std::vector<float>> rests, size_t whole);
};

class CombinedMatches {
 public:
  // `all_matches`: also of documents that a bar rules out.
  CombinedMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> shares, const KnownMatches& known,
                  bool all_matches);

  uint32_t window_count() const { return window_count_; }

  // The next window >= from that may have matches which reach a bar; window_count() if none. Bars do not fall.
  uint32_t NextWindow(uint32_t from, float reached);
  // Windows ascend. The result is good until the next call; bits may be taken from its matches. Scores that reach the bar are right,
  // others no greater than that. Matches do not consider deletions.
  Window* Evaluate(uint32_t window, float reached);
  // All have a score.
  void KeepScored(Window*) const {}
  // Takes what no source may find from what somebody else found in the window that was evaluated last.
  void Exclude(Window* window) const;

 private:
  struct Part {
    SourceShare share;
    std::unique_ptr<SegmentSource> source;
    float bound;               // of what it adds to a score: of the segment
    float window_bound = 0;    // of the window at hand
    Window* found = nullptr;   // in the window at hand; null where it was not asked
  };

  float Held(float bar) const;
  float LeastOf(const Part& part, float bar) const;
  void ChooseFinders(float bar);
  void Keep(Part* part, Window* found);
  float SumOf(uint32_t offset) const;
  uint64_t WordsOf(const Part& alone) const;
  void SetReaching(float least, float to_come, const Window* found);
  void FindOfSources(float bar);
  void Complete(Part* part, float least, float to_come);
  void AddKnown();
  void Sum();

  uint32_t document_count_;
  uint32_t window_count_;
  bool all_matches_;
  std::vector<Part> parts_;
  std::vector<uint32_t> by_bound_;  // parts, the greatest bound first
  size_t finders_;                  // so many of these find
  float bound_ = 0;                 // of all parts
  std::vector<KnownDocument> known_;
  size_t next_known_ = 0;           // those before lie in windows that were evaluated
  float certain_;                   // KnownMatches
  WindowBits rest_;                 // of these, what does not certainly
  Window window_;
  WindowBits reaching_;  // what is still asked about
  uint64_t score_words_ = 0;
};

}  // namespace gannet
