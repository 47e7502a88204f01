// Searches words together with one other source that completes what the words find, using the threshold algorithm
// (Fagin, Lotem and Naor 2001). It applies if only the hits by score and their number are wanted. The documents that
// the other source found are known with their whole scores beforehand (KnownMatches). The words are searched in the
// cheapest way, as if they were alone, for documents that can reach the bar with the most that the other source may
// add.
//
// Hits, scores and counts are the same as those of CombinedMatches, which evaluates both sources window by window.
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
  // `shares` are the words and the other source, in this order. All arguments must outlive the object.
  ThresholdSearch(const PreparedQuery* query, const QueryPlan* plan, std::span<const SourceShare> shares, const KnownMatches* known,
                  EvaluatorScratch* scratch, ProximityScorer* proximity)
      : query_(*query), plan_(*plan), shares_(shares), known_(*known), scratch_(*scratch), proximity_(*proximity) {}

  // Returns true if the query can be searched this way: every document that the words find has a score, and the words
  // exclude no document that the other source finds.
  static bool IsFor(const PreparedQuery& query, std::span<const SourceShare> shares);

  // Gives the possible hits of the segment, which the collector has begun, to the collector. Returns the number of
  // matches if all are needed.
  uint64_t Search(uint32_t segment, EvaluationNeeds needs, HitCollector* collector);

 private:
  // Returns the least score of the words with which a document can reach `sum` if the other source adds `other`.
  float LeastFor(float sum, float other) const;
  void RaiseLeast();
  // These keep the documents found by words that may reach the bar.
  void Add(const ScoredDocument& scored);
  void Add(const Window& window);
  void Add(std::span<const ScoredDocument> scored);
  // Completes the scores of the added documents, which ascend, as long as they may reach the bar, which rises
  // meanwhile.
  void Collect();
  // Completes the documents that score best by words, and removes them from added_.
  void CompleteBest();
  void Complete(std::span<const ScoredDocument> added);
  void AddWhole(const ScoredDocument& found, float other);

  const PreparedQuery& query_;
  const QueryPlan& plan_;
  std::span<const SourceShare> shares_;
  const KnownMatches& known_;
  EvaluatorScratch& scratch_;
  ProximityScorer& proximity_;

  // State of the current segment.
  uint32_t segment_ = 0;
  HitCollector* collector_ = nullptr;
  std::unique_ptr<SegmentSource> other_;
  float other_bound_ = 0;    // the most that the other source adds to a sum
  float least_ = 0;          // the least score of a hit's words
  float certain_least_ = 0;  // the same for KnownMatches::certain
  std::vector<ScoredDocument> added_;
  std::vector<float> mosts_;
  std::vector<ScoredDocument> found_;  // those of the added documents that may reach the bar
  std::vector<uint32_t> documents_;    // the numbers of found_
  std::vector<ScoreLimit> limits_;
  std::vector<float> others_;
  std::vector<ScoredDocument> whole_;
};

}  // namespace gannet
