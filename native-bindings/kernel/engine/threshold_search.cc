#include "threshold_search.h"

#include <algorithm>
#include <array>
#include <limits>

#include "../common/stop.h"
#include "../sources/reaching_documents.h"

namespace gannet {

namespace {

// Number of documents whose scores are completed together: some vectors are fetched from memory while others are
// compared, and the bar rises in between.
constexpr size_t kCompletedAtOnce = 16;
// Up to this number, documents are completed in the order in which they were added.
constexpr size_t kCompletedAsTheyComeMax = 64;

float MostOf(const ScoredDocument& added) { return added.score + added.bonus_bound; }

}  // namespace

bool ThresholdSearch::IsFor(const PreparedQuery& query, std::span<const SourceShare> shares) {
  if (shares.size() != 2 || !shares[1].source->IsListed() || !shares[1].adds_matches) return false;
  if (shares[0].floor > 0 || shares[1].floor > 0 || shares[0].weight <= 0) return false;
  return query.has_scoring_groups &&
         std::ranges::all_of(query.groups, [](const PreparedGroup& group) { return group.scores() && group.weight > 0; });
}

uint64_t ThresholdSearch::Search(uint32_t segment, EvaluationNeeds needs, HitCollector* collector) {
  StopNowIfAsked();
  segment_ = segment;
  collector_ = collector;
  uint64_t count = 0;
  whole_.clear();
  for (const KnownDocument& each : known_.strongest[segment]) {
    count += each.by_first <= 0;
    whole_.push_back({each.document, each.score, 0});
  }
  collector_->CollectScored(whole_);
  if (!query_.MayMatch(segment)) return count;
  other_ = shares_[1].source->Open(segment, needs.all_matches);
  other_bound_ = shares_[1].Counted(other_->Bound());
  least_ = 0;
  certain_least_ = known_.certain > 0 ? LeastFor(known_.certain, other_bound_) : std::numeric_limits<float>::infinity();
  RaiseLeast();
  SegmentMatches matches(query_, plan_, segment, needs, &scratch_, &proximity_, &least_);
  const auto add_number = [&](uint32_t more) { count += more; };
  const auto add_window = [&](const Window& window) { count += window.matches.Count(); };
  const auto consume = [&](const Window& window, uint32_t) {
    add_window(window);
    Add(window);
  };
  const auto collect = [&](std::span<const ScoredDocument> scored) { Add(scored); };
  switch (matches.ChooseWay(false, true, false)) {
    case Way::kDocuments:
      matches.ForEachDocument(add_number, collect);
      break;
    case Way::kSpans:
      matches.ForEachSpan(false, consume, add_number, add_window, collect);
      break;
    default:
      matches.ForEachWindow(consume);
  }
  return count;
}

float ThresholdSearch::LeastFor(float sum, float other) const { return (sum * kSlack - other) / shares_[0].weight * shares_[0].full; }

// A document that may be completed with its whole score by the other source must not be ruled out by what is expected
// of it.
void ThresholdSearch::RaiseLeast() { least_ = std::max(least_, std::min(LeastFor(collector_->bar(), other_bound_), certain_least_)); }

void ThresholdSearch::Add(const ScoredDocument& scored) {
  if (scored.score + scored.bonus_bound >= least_) added_.push_back(scored);
}

void ThresholdSearch::Add(const Window& window) {
  ForEachReaching(window, segment_, least_, proximity_,
                  [&](uint32_t document, float score, float bonus_bound) { Add(ScoredDocument{document, score, bonus_bound}); });
  Collect();
}

void ThresholdSearch::Add(std::span<const ScoredDocument> scored) {
  for (const ScoredDocument& each : scored) Add(each);
  Collect();
}

// Nearly all added documents are completed, so sorting all would cost more than it saves: if there are many, the best
// are completed first, and the rest in the order of addition.
void ThresholdSearch::Collect() {
  if (added_.size() > kCompletedAsTheyComeMax) CompleteBest();
  size_t begin = 0;
  size_t end = 0;
  for (const ScoredDocument& each : added_) {
    if (MostOf(each) < least_) continue;
    added_[end++] = each;
    if (end - begin < kCompletedAtOnce) continue;
    Complete(std::span(added_).subspan(begin, end - begin));
    begin = end;
  }
  Complete(std::span(added_).subspan(begin, end - begin));
  added_.clear();
}

void ThresholdSearch::CompleteBest() {
  mosts_.clear();
  for (const ScoredDocument& each : added_) mosts_.push_back(MostOf(each));
  const auto last = mosts_.begin() + (kCompletedAtOnce - 1);
  std::ranges::nth_element(mosts_, last, std::ranges::greater{});
  // Where titles are short, thousands may tie with the last of the best: the first of them are taken, in the order of
  // documents.
  size_t ties = static_cast<size_t>(std::count(mosts_.begin(), last + 1, *last));
  std::array<ScoredDocument, kCompletedAtOnce> best;
  size_t taken = 0;
  size_t left = 0;
  for (const ScoredDocument& each : added_) {
    const float most = MostOf(each);
    if (most > *last || (most == *last && ties > 0)) {
      ties -= most == *last;
      best[taken++] = each;
    } else {
      added_[left++] = each;
    }
  }
  added_.erase(added_.begin() + static_cast<std::ptrdiff_t>(left), added_.end());
  Complete(std::span(best).first(taken));
}

// Vectors are compared before bonuses are computed: bonuses take longer, and once the vector is known hardly any
// document still needs one.
void ThresholdSearch::Complete(std::span<const ScoredDocument> added) {
  StopIfAsked();
  for (const ScoredDocument& each : added) {
    if (known_.Find(segment_, each.document) != nullptr) continue;
    found_.push_back(each);
    documents_.push_back(each.document);
    // The limit is chosen as if the document had the greatest bonus that it can have.
    limits_.push_back(MostOf(each) >= certain_least_ ? ScoreLimit::kNone : ScoreLimit::kBound);
  }
  others_.resize(documents_.size());
  other_->ScoreOthers(documents_, limits_, others_.data());
  whole_.clear();
  for (size_t i = 0; i < found_.size(); ++i) AddWhole(found_[i], others_[i]);
  collector_->CollectScored(whole_);
  found_.clear();
  documents_.clear();
  limits_.clear();
  RaiseLeast();
}

// `other` is the most that the document can have by the other source.
void ThresholdSearch::AddWhole(const ScoredDocument& found, float other) {
  const float least = LeastFor(collector_->bar(), shares_[1].Counted(other));
  if (MostOf(found) < least) return;
  float score = found.score;
  if (found.bonus_bound > 0) score += proximity_.Bonus(segment_, found.document, least - score);
  // A bonus that stays below the bar may be incomplete here.
  if (score < least) return;
  if (score < certain_least_) other = std::min(other, other_->Bound());
  float sum = shares_[0].Counted(score);
  if (other > 0) sum += shares_[1].Counted(other);
  whole_.push_back({found.document, sum, 0});
}

}  // namespace gannet
