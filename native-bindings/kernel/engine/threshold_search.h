// Words beside one source that completes others, where hits by score are wanted and nothing else but their number: the threshold algorithm
// (Fagin, Lotem and Naor 2001). What the other source found is known with its whole score before (KnownMatches). The words are searched as they
// are where they are alone, in the way that costs least, for what reaches the bar with the most that others have by the other source.
//
// Hits, scores and numbers are those of CombinedMatches, which evaluates both window by window.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../collect/hit_collector.h"
#include "../sources/combined_matches.h"
#include "../sources/segment_matches.h"

namespace gannet {

class ThresholdSearch {
 public:
  // The shares are the words and the other source. All outlive the object.
  ThresholdSearch(const PreparedQuery* query, const QueryPlan* plan, std::span<const SourceShare> shares, const KnownMatches* known,
                  EvaluatorScratch* scratch, ProximityScorer* proximity)
      : query_(*query), plan_(*plan), shares_(shares), known_(*known), scratch_(*scratch), proximity_(*proximity) {}

  // Whether the words of such a query can be searched so: whoever they find has a score, and they exclude nothing that the other finds.
  static bool IsFor(const PreparedQuery& query, std::span<const SourceShare> shares);

  // Gives the collector what may be a hit of the segment, which was begun; returns how many match where all of them are needed.
  uint64_t Search(uint32_t segment, EvaluationNeeds needs, HitCollector* collector);

 private:
  // What the words of a document have to score where it may reach a sum, of which the other source adds so much.
  float LeastFor(float sum, float other) const;
  void RaiseLeast();
  // Of what words found, what may reach the bar.
  void Add(const ScoredDocument& scored);
  void Add(const Window& window);
  void Add(std::span<const ScoredDocument> scored);
  // Gives what was added, which ascends, its whole score, as long as it may reach the bar, which rises meanwhile.
  void Collect();
  // The best by words, which are added no more.
  void CompleteBest();
  void Complete(std::span<const ScoredDocument> added);
  void AddWhole(const ScoredDocument& found, float other);

  const PreparedQuery& query_;
  const QueryPlan& plan_;
  std::span<const SourceShare> shares_;
  const KnownMatches& known_;
  EvaluatorScratch& scratch_;
  ProximityScorer& proximity_;

  // Of the segment at hand.
  uint32_t segment_ = 0;
  HitCollector* collector_ = nullptr;
  std::unique_ptr<SegmentSource> other_;
  float other_bound_ = 0;    // of what it adds to a sum
  float least_ = 0;          // what the words of a hit have to score
  float certain_least_ = 0;  // the same of KnownMatches::certain
  std::vector<ScoredDocument> added_;
  std::vector<float> mosts_;
  std::vector<ScoredDocument> found_;  // of these some that may reach it, and
  std::vector<uint32_t> documents_;    // their numbers
  std::vector<ScoreLimit> limits_;
  std::vector<float> others_;
  std::vector<ScoredDocument> whole_;
};

}  // namespace gannet
