// The best documents of a part by the records that they lead to, while the part is searched: as HitCollector does for hits, but the bar
// is that of the k-th best record, however many documents each has, and of a record only what may be its best is kept.
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

// A record is named by where it is: its segment and document.
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

// A number above 0 for each of some records.
class ScoreByHome {
 public:
  // 0 where there is none yet. Good until the next call.
  float& Of(RecordHome home);
  // Calls visit(score) for each that has been set.
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

  std::vector<Entry> entries_;  // a power of two; free where the score is 0
  size_t used_ = 0;
};

class BestRecords {
 public:
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();
  static constexpr size_t kTopMax = 64;  // of more, the bar is found when candidates are settled

  // `proximity` outlives the object.
  BestRecords(size_t wanted, ProximityScorer* proximity)
      : wanted_(wanted), settle_at_(wanted > kAll / 4 ? kAll : 2 * wanted + kSpare), proximity_(*proximity) {}

  // Documents whose score, the bonus included, is below this lead to no record that is wanted. Never falls.
  const float& bar() const { return bar_; }
  // As many records as are wanted, some of them yet to come, are known to have a document with a score of at least this.
  void SeedBar(float score) { bar_ = std::max(bar_, score); }
  // Many documents are known to reach this score: so as many records as are wanted probably do. `HasReached` says at the end whether that was
  // true; else it has to be gone through once more.
  void Suppose(float score) { bar_ = supposed_ = std::max(bar_, score); }
  bool HasReached() const { return supposed_ <= 0 || LeastOfTop() >= supposed_; }
  bool MayEnter(float score, float bonus_bound) const { return score + bonus_bound >= bar_; }
  // The score is without the bonus, which is not above the bound.
  void Add(const BestDocument& document, float bonus_bound);

  // The best document of each record that reaches the bar, with its bonus; of equal ones that which `comes_first(a, b)` says. By home. At the end.
  std::vector<BestDocument> Finish(const std::function<bool(const BestDocument&, const BestDocument&)>& comes_first);

  // How many documents were added.
  uint64_t evaluated() const { return evaluated_; }

 private:
  static constexpr size_t kSpare = 64;

  struct Candidate {
    BestDocument document;
    float bonus_bound;  // 0 where the score has the bonus
    float most() const { return document.score + bonus_bound; }
  };

  void Settle();
  void AddBonuses(std::span<const uint32_t> indexes);
  // `known`: of its home.
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
  ScoreByHome known_;               // what each record's best document scores at least
  std::vector<BestDocument> top_;   // of these, the best
  uint64_t evaluated_ = 0;
};

}  // namespace gannet
