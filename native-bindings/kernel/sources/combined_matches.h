// Finds the documents of a segment that several sources find, with the sum of their scores: MAXSCORE (Turtle and Flood
// 1995) over sources. The sources without which no document can reach the bar find documents; the others are asked
// about those that may still reach it.
//
// The sum is made in the order of the sources, so that a document scores the same, to the bit, whichever source found
// it.
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
  float score = 0;      // the sum as CombinedMatches computes it, to the bit
  float by_first = 0;   // its score by the first source; 0 if that does not find it
  float by_others = 0;  // what the other sources add to the sum
};

// What is known of the sums before any document is evaluated.
struct KnownMatches {
  // By segment, ascending: the strongest documents of all sources, which may exceed the sources' bounds.
  std::vector<std::vector<KnownDocument>> strongest;
  // Score of the best of them; 0 if there is none. A document that may reach it with the bound of a source that
  // completes others is completed with its whole score by that source, whatever the bar; any other one with its score
  // up to the bound. So neither depends on the page.
  float certain = 0;
  // Returns the limit for a document that has `sum` by the earlier sources: whether its score by this source is cut to
  // the source's bound.
  ScoreLimit LimitOf(float sum, const SourceShare& share) const {
    const bool may_reach = sum + share.Counted(share.source->OthersBound()) >= certain * kSlack;
    return certain > 0 && may_reach ? ScoreLimit::kNone : ScoreLimit::kBound;
  }

  KnownMatches() = default;
  // At least the `whole` best documents get their whole scores; others, which rank below them, may have less. 0: all
  // get them. If above 0, there must be two sources.
  KnownMatches(const Generation& generation, std::span<const SourceShare> shares, size_t whole);
  // Returns null if the document is not one of the strongest.
  const KnownDocument* Find(uint32_t segment, uint32_t document) const;
  // Returns a score that `documents` of them have; 0 if there are fewer.
  float Reached(size_t documents) const;

 private:
  void Complete(std::span<const SourceShare> shares, std::span<const std::vector<float>> rests, size_t whole);
};

class CombinedMatches {
 public:
  // `all_matches`: find documents even if a bar rules them out.
  CombinedMatches(uint32_t segment, uint32_t document_count, std::span<const SourceShare> shares, const KnownMatches& known,
                  bool all_matches);

  uint32_t window_count() const { return window_count_; }

  // Returns the next window >= `from` that may have matches that reach a bar; window_count() if there is none. Bars
  // must not fall.
  uint32_t NextWindow(uint32_t from, float reached);
  // Windows must ascend. The result is valid until the next call; bits may be cleared in its matches. Scores that reach
  // the bar are exact, others are not above it. Deletions are not considered.
  Window* Evaluate(uint32_t window, float reached);
  // Does nothing: all matches have a score.
  void KeepScored(Window*) const {}
  // Removes documents that no source may find from `window`, whose matches others found. It must be the window
  // evaluated last.
  void Exclude(Window* window) const;

 private:
  struct Part {
    SourceShare share;
    std::unique_ptr<SegmentSource> source;
    float bound;               // of what it adds to a score in the segment
    float window_bound = 0;    // the same in the current window
    Window* found = nullptr;   // in the current window; null if it was not asked
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
  std::vector<uint32_t> by_bound_;  // indexes of parts, the greatest bound first
  size_t finders_;                  // the first so many of by_bound_ find documents
  float bound_ = 0;                 // of the sum of all parts
  std::vector<KnownDocument> known_;
  size_t next_known_ = 0;           // those before it are in windows that were evaluated
  float certain_;                   // KnownMatches::certain
  WindowBits rest_;                 // those of reaching_ that cannot reach certain_
  Window window_;
  WindowBits reaching_;  // documents about which further sources are asked
  uint64_t score_words_ = 0;
};

}  // namespace gannet
