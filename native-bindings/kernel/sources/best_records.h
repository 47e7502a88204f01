// Keeps the best documents of a part by the records that they lead to, while the part is searched. Works like
// HitCollector, but the bar is that of the k-th best record, however many documents each record has, and only documents
// that may be their record's best are kept.
//
// Thread-safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "../bonus/proximity_scorer.h"

namespace gannet {

// Identifies a record by its segment and document.
struct RecordHome {
  uint32_t segment = 0;
  uint32_t document = 0;
  friend auto operator<=>(const RecordHome&, const RecordHome&) = default;
};

struct BestDocument {
  RecordHome home;
  float score = 0;
  uint32_t segment = 0;  // of the part
  uint32_t document = 0;
};

// A number above 0 for each of several records.
class ScoreByHome {
 public:
  // Returns the number of a record, 0 if it has none yet. Valid until the next call.
  float& Of(RecordHome home);
  // Calls visit(score) for each record that has a number.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.score > 0) visit(entry.score);
    }
  }

 private:
  struct Entry {
    RecordHome home;
    float score = 0;
  };
  Entry& Find(RecordHome home);

  std::vector<Entry> entries_;  // a power of two; a score of 0 means free
  size_t used_ = 0;
};

class BestRecords {
 public:
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();
  static constexpr size_t kTopMax = 64;  // if more records are wanted, the bar is found when candidates are settled

  // `proximity` must outlive the object.
  BestRecords(size_t wanted, ProximityScorer* proximity)
      : wanted_(wanted), settle_at_(wanted > kAll / 4 ? kAll : 2 * wanted + kSpare), proximity_(*proximity) {}

  // A document whose score, the bonus included, is below this leads to no record that is wanted. Never falls.
  const float& bar() const { return bar_; }
  // To be called if as many records as are wanted, some possibly not added yet, are known to have a document with this
  // score or more.
  void SeedBar(float score) { bar_ = std::max(bar_, score); }
  // To be called if many documents are known to reach this score, so that as many records as are wanted probably do.
  // `HasReached` tells at the end whether that was true; if not, the search must be repeated.
  void Suppose(float score) { bar_ = supposed_ = std::max(bar_, score); }
  bool HasReached() const { return supposed_ <= 0 || LeastOfTop() >= supposed_; }
  bool MayEnter(float score, float bonus_bound) const { return score + bonus_bound >= bar_; }
  // Adds a document. Its score is without the bonus, which is at most `bonus_bound`.
  void Add(const BestDocument& document, float bonus_bound);

  // Returns the best document, with its bonus, of each record that reaches the bar, sorted by home; of equal ones, the
  // one that `comes_first(a, b)` chooses. To be called at the end.
  std::vector<BestDocument> Finish(const std::function<bool(const BestDocument&, const BestDocument&)>& comes_first);

  // Number of documents that were added.
  uint64_t evaluated() const { return evaluated_; }

 private:
  static constexpr size_t kSpare = 64;

  struct Candidate {
    BestDocument document;
    float bonus_bound;  // 0 if the score includes the bonus
    float most() const { return document.score + bonus_bound; }
  };

  void Settle();
  void AddBonuses(std::span<const uint32_t> indexes);
  // `known` is the entry of known_ for the document's home.
  void Know(const BestDocument& document, float* known);
  void RaiseBar();
  void RaiseTop(RecordHome home, float score);
  float LeastOfTop() const;
  bool MayBeBest(const Candidate& candidate) {
    return candidate.most() >= bar_ && candidate.most() >= known_.Of(candidate.document.home);
  }

  size_t wanted_;
  size_t settle_at_;
  ProximityScorer& proximity_;
  float bar_ = 0;
  float supposed_ = 0;
  std::vector<Candidate> candidates_;
  ScoreByHome known_;               // by record, a lower bound of its best document's score
  std::vector<BestDocument> top_;   // the best of these
  uint64_t evaluated_ = 0;
};

}  // namespace gannet
