#include "score_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../postings/norm.h"

namespace gannet {
namespace {

constexpr size_t kCodes = 256;
constexpr int kDivisionSteps = 4;
// Impacts saturate at 65535, which means 65535 or more.
constexpr uint16_t kSaturatedFrequency = 65535;
constexpr float kEndlessFrequency = 1e12f;
// A place of parts has one term, and that of a piece of two places or more (analysis/word_parts.h).
constexpr double kTermsPerPart = 1.5;

using FrequencyCap = std::array<float, kCodes>;  // by norm code

// Returns the greatest length that has this code.
double LongestLength(size_t code) {
  if (code >= kCodes - 1) return std::numeric_limits<double>::infinity();
  const auto& lengths = NormLengths();
  if (code < 63) return double{lengths[code]};
  return (double{lengths[code]} + double{lengths[code + 1]}) / 2;
}

float Frequency(const Impact& impact) {
  return impact.frequency == kSaturatedFrequency ? kEndlessFrequency : static_cast<float>(impact.frequency);
}

// A sum of step functions over the norm codes, stored as the rise at each code.
class CapSum {
 public:
  void Add(size_t code, double rise) { rises_[code] += rise; }

  FrequencyCap Sum() const {
    FrequencyCap cap;
    double sum = 0;
    for (size_t code = 0; code < kCodes; ++code) cap[code] = static_cast<float>(sum += rises_[code]);
    return cap;
  }

 private:
  std::array<double, kCodes> rises_{};
};

// One group as a term of the sum: value(f) = weight * f / (f + K), where f is at most cap[code] and takes up rate * f
// of the length.
struct Share {
  PreparedGroup* group;
  double weight;
  double rate;
  FrequencyCap cap;
};

// For a pair of groups, the occurrences that may be near each other.
struct PairShare {
  PreparedPair* pair;
  FrequencyCap first;
  FrequencyCap second;
};

// Returns the sum of the greatest 1 / distance of `count` positions around one; `count` is a whole number.
double SumOfNearest(double count) {
  constexpr size_t kMost = 2 * kProximityDistanceMax;
  static const std::array<double, kMost + 1> sums = [] {
    std::array<double, kMost + 1> values{};
    for (size_t i = 0; i < kMost; ++i) values[i + 1] = values[i] + 1.0 / static_cast<double>(i / 2 + 1);
    return values;
  }();
  return sums[count < kMost ? static_cast<size_t>(std::ceil(count)) : kMost];
}

class ScoreBounder {
 public:
  explicit ScoreBounder(PreparedQuery* query) : query_(*query), steps_(query->terms.size()) {}

  double Bound() {
    MakeLengths();
    MakeShares();
    MakePairShares();
    MakeWholeUnits();
    double best = 0;
    double pairs = 0;
    bool length_was_short = true;
    for (size_t code = 0; code < kCodes; ++code) {
      // If no cap rises and the length was no constraint, a longer document can only score less.
      if (rises_[code] || length_was_short) {
        length_was_short = false;
        pairs = BonusAt(code, &length_was_short);
        best = std::max(best, BoundAt(code, &length_was_short) + pairs + WholeBonusAt(code));
      }
      query_.pairs_bound[code] = static_cast<float>(pairs);
    }
    return best;
  }

 private:
  void MakeLengths() {
    UnitsByNorm parts{};
    for (const SegmentView& view : query_.generation->segments) {
      if (const UnitsByNorm* units = view.segment->part_units()) {
        for (size_t code = 0; code < kCodes; ++code) parts[code] = std::max(parts[code], (*units)[code]);
      }
    }
    for (size_t code = 0; code < kCodes; ++code) longest_[code] = LongestLength(code) + kTermsPerPart * parts[code];
  }

  void MakeShares() {
    std::vector<uint32_t> uses(query_.terms.size());
    for (PreparedGroup& group : query_.groups) {
      if (!group.scores()) continue;
      for (const PreparedAlternative& alternative : group.alternatives) CountUses(alternative, &uses);
      for (const PreparedAlternative& longer : group.longer) CountUses(longer, &uses);
    }
    shares_.reserve(query_.groups.size());
    length_is_shared_ = !query_.has_signed_terms && std::all_of(uses.begin(), uses.end(), [](uint32_t count) { return count <= 1; });
    for (PreparedGroup& group : query_.groups) {
      if (group.scores()) shares_.push_back(MakeShare(&group));
    }
  }

  static void CountUses(const PreparedAlternative& alternative, std::vector<uint32_t>* uses) {
    const auto& terms = alternative.terms;
    for (size_t i = 0; i < terms.size(); ++i) {
      // Repeats within one phrase are accounted for by its rate.
      if (std::find(terms.begin(), terms.begin() + static_cast<ptrdiff_t>(i), terms[i]) ==
          terms.begin() + static_cast<ptrdiff_t>(i)) {
        ++(*uses)[terms[i]];
      }
    }
  }

  Share MakeShare(PreparedGroup* group) {
    Share share{group, double{group->boost} * group->idf, std::numeric_limits<double>::infinity(), {}};
    CapSum sum;
    for (const PreparedAlternative& alternative : group->alternatives) {
      for (const uint32_t term : alternative.terms) {
        for (const Impact& step : StepsOf(term)) rises_[step.norm] = true;
      }
      AddSteps(alternative, &sum);
      // The frequency of a joined alternative is in steps and does not exceed the number of its occurrences.
      const double weight = alternative.is_joined ? 1 : double{alternative.weight};
      share.rate = std::min(share.rate, TokensPerOccurrence(alternative) / weight);
    }
    for (const PreparedAlternative& longer : group->longer) {
      for (const Impact& step : StepsOf(longer.terms[0])) rises_[step.norm] = true;
    }
    share.cap = sum.Sum();
    return share;
  }

  // Returns the greatest frequencies of a term, each in documents of a code or a higher one. Both members ascend.
  std::span<const Impact> StepsOf(uint32_t term) {
    Steps& steps = steps_[term];
    if (!steps.empty()) return {steps.data(), steps.size()};
    std::array<Impact, kImpactsPerList> scratch;
    size_t lists = 0;
    for (const auto& [segment, list] : query_.terms[term].lists) {
      const std::span<const Impact> impacts = list.ListImpacts(&scratch);
      for (const Impact& impact : impacts) steps.push_back(impact);
      ++lists;
    }
    if (lists > 1) {
      std::ranges::stable_sort(steps, {}, &Impact::norm);
      size_t kept = 0;
      for (const Impact& step : steps) {
        if (kept > 0 && step.frequency <= steps[kept - 1].frequency) continue;
        if (kept > 0 && step.norm == steps[kept - 1].norm) --kept;
        steps[kept++] = step;
      }
      steps.resize(kept);
    }
    return {steps.data(), steps.size()};
  }

  void AddSteps(const PreparedAlternative& alternative, CapSum* sum) {
    const double weight = alternative.weight;
    if (!alternative.is_phrase()) {
      double before = 0;
      for (const Impact& step : StepsOf(alternative.terms[0])) {
        sum->Add(step.norm, weight * (Frequency(step) - before));
        before = Frequency(step);
      }
      return;
    }
    // No document has a phrase more often than any of its words.
    double before = 0;
    std::array<bool, kCodes> may_rise{};
    for (const uint32_t term : alternative.terms) {
      for (const Impact& step : StepsOf(term)) may_rise[step.norm] = true;
    }
    for (size_t code = 0; code < kCodes; ++code) {
      if (!may_rise[code]) continue;
      float least = kEndlessFrequency;
      for (const uint32_t term : alternative.terms) least = std::min(least, FrequencyAt(StepsOf(term), code));
      sum->Add(code, weight * (least - before));
      before = least;
    }
  }

  static float FrequencyAt(std::span<const Impact> steps, size_t code) {
    const auto behind = std::ranges::upper_bound(steps, code, {}, [](const Impact& step) { return size_t{step.norm}; });
    return behind == steps.begin() ? 0 : Frequency(*(behind - 1));
  }

  void MakePairShares() {
    uint32_t least = 0xffffffffu;
    for (const SegmentView& view : query_.generation->segments) {
      for (const TextFieldMeta& field : view.segment->meta().text_fields) {
        least = std::min(least, field.weight_units);
        units_max_ = std::max<double>(units_max_, field.weight_units);
      }
    }
    units_min_ = least == 0xffffffffu ? 1 : least;
    for (PreparedPair& pair : query_.pairs) {
      pair_shares_.push_back({&pair, OccurrenceCap(pair.first), OccurrenceCap(pair.second)});
    }
  }

  // Returns the most occurrences of a group's terms, by norm code.
  FrequencyCap OccurrenceCap(uint32_t group) {
    CapSum sum;
    for (const uint32_t term : query_.groups[group].sequence_terms) {
      double before = 0;
      for (const Impact& step : StepsOf(term)) {
        const double occurrences = std::floor(Frequency(step) / units_min_);
        sum.Add(step.norm, occurrences - before);
        before = occurrences;
      }
    }
    return sum.Sum();
  }

  void MakeWholeUnits() {
    for (uint32_t segment = 0; segment < query_.whole.matches.size(); ++segment) {
      const std::span<const uint8_t> norms = query_.generation->segments[segment].segment->norms();
      for (const WholeFieldMatch& match : *query_.whole.matches[segment]) {
        const uint8_t code = norms[match.document];
        whole_units_[code] = std::max(whole_units_[code], match.units);
        rises_[code] = true;
      }
    }
  }

  double WholeBonusAt(size_t code) const {
    const double units = whole_units_[code];
    return query_.whole.value * units / (units + query_.saturation[code]);
  }

  double BonusAt(size_t code, bool* length_is_short) const {
    const double saturation = query_.saturation[code];
    const double places = std::floor(longest_[code] / units_min_);
    double sum = 0;
    for (const PairShare& share : pair_shares_) {
      double first = share.first[code];
      double second = share.second[code];
      if (first + second > places && !query_.has_signed_terms) {
        // Occurrences of two groups without a common term are at different positions: the best division is into halves.
        *length_is_short = true;
        first = std::min(first, std::max(std::floor(places / 2), places - second));
        second = std::min(second, places - first);
      }
      if (first <= 0 || second <= 0) continue;
      const double nearness = units_max_ * std::min(first * SumOfNearest(second), second * SumOfNearest(first));
      const double value = share.pair->value * nearness / (nearness + saturation);
      share.pair->bound = std::max(share.pair->bound, value);
      sum += value;
    }
    return sum;
  }

  // Occurrences of a phrase of distinct words share no token; with repeats ("new new") all but the first may.
  static double TokensPerOccurrence(const PreparedAlternative& alternative) {
    if (!alternative.is_phrase()) return 1;
    std::vector<uint32_t> sorted(alternative.terms.begin(), alternative.terms.end());
    std::sort(sorted.begin(), sorted.end());
    const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    return distinct ? static_cast<double>(sorted.size()) : 1;
  }

  double BoundAt(size_t code, bool* length_is_short) {
    const double saturation = query_.saturation[code];
    const double length = length_is_shared_ ? longest_[code] : std::numeric_limits<double>::infinity();
    double sum = 0;
    double demand = 0;
    for (const Share& share : shares_) {
      const double most = std::min(double{share.cap[code]}, length / share.rate);
      const double value = most > 0 ? share.weight * most / (most + saturation) : 0;
      share.group->bound = std::max(share.group->bound, value);
      sum += value;
      demand += share.rate * double{share.cap[code]};
    }
    *length_is_short |= demand >= length;
    return demand > length ? std::min(sum, DividedBound(code, saturation, length)) : sum;
  }

  // Uses a Lagrange multiplier: the best f of a share at multiplier m is sqrt(weight * K / (m * rate)) - K, within
  // 0..cap. Each step solves for the m at which the shares that are at neither limit use up what the others leave.
  double DividedBound(size_t code, double saturation, double length) const {
    double best = std::numeric_limits<double>::infinity();
    double scale = 0;  // 1 / sqrt(m)
    for (int step = 0; step < kDivisionSteps; ++step) {
      double left = length;
      double slope = 0;
      for (const Share& share : shares_) {
        const double wanted = scale * std::sqrt(share.weight * saturation / share.rate) - saturation;
        if (step > 0 && wanted >= share.cap[code]) {
          left -= share.rate * share.cap[code];
        } else if (share.cap[code] > 0 && (step == 0 || wanted > 0)) {
          left += share.rate * saturation;
          slope += std::sqrt(share.weight * saturation * share.rate);
        }
      }
      if (slope <= 0 || left <= 0) break;
      scale = left / slope;
      best = std::min(best, DualValue(code, saturation, length, scale));
    }
    return best;
  }

  double DualValue(size_t code, double saturation, double length, double scale) const {
    const double multiplier = 1 / (scale * scale);
    double value = multiplier * length;
    for (const Share& share : shares_) {
      const double wanted = scale * std::sqrt(share.weight * saturation / share.rate) - saturation;
      const double frequency = std::clamp(wanted, 0.0, double{share.cap[code]});
      if (frequency > 0)
        value += share.weight * frequency / (frequency + saturation) - multiplier * share.rate * frequency;
    }
    return value;
  }

  PreparedQuery& query_;
  std::array<double, kCodes> longest_{};  // that terms take up, with those that are parts of words
  using Steps = InlineVector<Impact, kImpactsPerList>;
  std::vector<Steps> steps_;  // by term; empty: not computed yet, or in no segment
  std::vector<Share> shares_;
  std::vector<PairShare> pair_shares_;
  // by norm code: the most units of any document with a field that is the query
  std::array<uint32_t, kCodes> whole_units_{};
  float units_min_ = 1;
  double units_max_ = 1;
  std::array<bool, kCodes> rises_{};  // codes at which some alternative's cap may be higher than for shorter documents
  bool length_is_shared_ = false;
};

}  // namespace

double BoundScores(PreparedQuery* query) { return ScoreBounder(query).Bound(); }

}  // namespace gannet
