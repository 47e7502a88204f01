#include "best_records.h"

#include <numeric>

#include "../common/stop.h"

namespace gannet {
namespace {

// Number of bonuses computed at a time: the scores reached may spare the remaining candidates theirs.
constexpr size_t kBonusesAtOnce = 16;

size_t HashOf(RecordHome home) {
  const uint64_t bits = uint64_t{home.segment} << 32 | home.document;
  return static_cast<size_t>((bits * 0x9e3779b97f4a7c15u) >> 32);
}

}  // namespace

ScoreByHome::Entry& ScoreByHome::Find(RecordHome home) {
  const size_t mask = entries_.size() - 1;
  size_t at = HashOf(home) & mask;
  while (entries_[at].score > 0 && entries_[at].home != home) at = (at + 1) & mask;
  return entries_[at];
}

float& ScoreByHome::Of(RecordHome home) {
  constexpr size_t kEntriesMin = 256;
  if (entries_.empty()) entries_.resize(kEntriesMin);
  Entry& found = Find(home);
  if (found.score > 0) return found.score;
  // Half of the entries stay free. Entries that were requested but never set are counted, too.
  if (++used_ * 2 <= entries_.size()) {
    found.home = home;
    return found.score;
  }
  std::vector<Entry> before(entries_.size() * 2);
  before.swap(entries_);
  used_ = 1;
  for (const Entry& entry : before) {
    if (entry.score <= 0) continue;
    Find(entry.home) = entry;
    ++used_;
  }
  Entry& entry = Find(home);
  entry.home = home;
  return entry.score;
}

void BestRecords::Add(const BestDocument& document, float bonus_bound) {
  ++evaluated_;
  float& known = known_.Of(document.home);
  if (document.score + bonus_bound < known) return;
  Know(document, &known);
  candidates_.push_back({document, bonus_bound});
  if (candidates_.size() >= settle_at_) Settle();
}

void BestRecords::Know(const BestDocument& document, float* known) {
  if (document.score <= *known) return;
  *known = document.score;
  if (wanted_ > 0 && wanted_ <= kTopMax) RaiseTop(document.home, document.score);
}

void BestRecords::RaiseTop(RecordHome home, float score) {
  if (top_.size() == wanted_ && score <= LeastOfTop()) return;
  auto place = std::ranges::find(top_, home, &BestDocument::home);
  if (place != top_.end()) {
    place->score = score;
  } else if (top_.size() < wanted_) {
    top_.push_back({home, score});
  } else {
    *std::ranges::min_element(top_, {}, &BestDocument::score) = {home, score};
  }
  bar_ = std::max(bar_, LeastOfTop());
}

// Returns 0 if there are fewer records than are wanted.
float BestRecords::LeastOfTop() const {
  if (top_.size() < wanted_ || top_.empty()) return 0;
  return std::ranges::min_element(top_, {}, &BestDocument::score)->score;
}

// Raises the bar to the score of the k-th best record.
void BestRecords::RaiseBar() {
  if (wanted_ <= kTopMax || candidates_.size() < wanted_) return;
  std::vector<float> scores;
  known_.ForEach([&](float score) { scores.push_back(score); });
  if (scores.size() < wanted_) return;
  const auto last = scores.begin() + static_cast<std::ptrdiff_t>(wanted_ - 1);
  std::ranges::nth_element(scores, last, std::ranges::greater{});
  bar_ = std::max(bar_, *last);
}

// Computes the bonuses of documents that may be the best of one of the best records, and removes the others.
void BestRecords::Settle() {
  RaiseBar();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].bonus_bound > 0 && MayBeBest(candidates_[i])) order.push_back(i);
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](uint32_t i) { return candidates_[i].document.score; });
  for (size_t begin = 0; begin < order.size(); begin += kBonusesAtOnce) {
    const std::span<uint32_t> chunk = std::span(order).subspan(begin, std::min(kBonusesAtOnce, order.size() - begin));
    // Cursors only move forward.
    std::ranges::sort(chunk, {}, [&](uint32_t i) {
      return std::pair(candidates_[i].document.segment, candidates_[i].document.document);
    });
    AddBonuses(chunk);
  }
  RaiseBar();
  std::erase_if(candidates_, [&](const Candidate& each) { return each.bonus_bound > 0 || !MayBeBest(each); });
  // There are many equal ones.
  if (candidates_.size() * 2 > settle_at_) settle_at_ = settle_at_ > kAll / 2 ? kAll : settle_at_ * 2;
}

void BestRecords::AddBonuses(std::span<const uint32_t> indexes) {
  for (const uint32_t index : indexes) {
    StopIfAsked();
    Candidate& each = candidates_[index];
    if (!MayBeBest(each)) continue;
    float& known = known_.Of(each.document.home);
    const float needed = std::max(bar_, known) - each.document.score;
    each.document.score += proximity_.Bonus(each.document.segment, each.document.document, needed);
    each.bonus_bound = 0;
    Know(each.document, &known);
  }
}

std::vector<BestDocument> BestRecords::Finish(
    const std::function<bool(const BestDocument&, const BestDocument&)>& comes_first) {
  Settle();
  std::vector<BestDocument> best;
  for (const Candidate& candidate : candidates_) best.push_back(candidate.document);
  std::ranges::sort(best, [&](const BestDocument& a, const BestDocument& b) {
    if (a.home != b.home) return a.home < b.home;
    return a.score != b.score ? a.score > b.score : comes_first(a, b);
  });
  const auto rest = std::ranges::unique(best, {}, &BestDocument::home);
  best.erase(rest.begin(), rest.end());
  return best;
}

}  // namespace gannet
