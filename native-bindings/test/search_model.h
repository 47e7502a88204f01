// A simple, slow model of the search, which tests compare the engine with.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../kernel/filter/geo.h"
#include "../kernel/postings/norm.h"
#include "search_support.h"

namespace gannet::test {

struct ModelDocument {
  uint32_t record_number = 0;
  bool deleted = false;
  uint32_t segment = 0;
  uint32_t document = 0;
  // Words by text field and value.
  std::vector<std::vector<std::vector<std::string>>> fields;
  std::map<uint16_t, std::vector<std::string>> strings;  // by column
  std::map<uint16_t, std::vector<double>> numbers;
  std::optional<GeoPoint> location;  // as stored
};

struct ModelHit {
  const ModelDocument* document = nullptr;
  double score = 0;
};

class SearchModel {
 public:
  SegmentSchema schema;
  std::vector<ModelDocument> documents;
  const Generation* generation = nullptr;

  double Frequency(const ModelDocument& document, const PlanAlternative& alternative) const {
    double sum = 0;
    for (size_t field = 0; field < document.fields.size(); ++field) {
      for (const auto& words : document.fields[field]) {
        for (size_t i = 0; i + alternative.terms.size() <= words.size(); ++i) {
          const bool occurs =
              std::equal(alternative.terms.begin(), alternative.terms.end(), words.begin() + static_cast<ptrdiff_t>(i));
          if (occurs) sum += schema.text_field_weight_units[field];
        }
      }
    }
    return sum;
  }

  static bool Holds(const ModelDocument& document, const std::set<std::string_view>& terms) {
    for (const auto& values : document.fields) {
      for (const auto& words : values) {
        if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return terms.contains(word); })) return true;
      }
    }
    return false;
  }

  double DocumentFrequency(const PlanAlternative& alternative) const {
    double least = INFINITY;
    for (const std::string_view term : alternative.terms) {
      const std::set<std::string_view> terms = {term};
      double count = 0;
      for (const ModelDocument& document : documents) count += Holds(document, terms);
      least = std::min(least, count);
    }
    return least;
  }

  // Returns the alternatives that the idf of a group is computed from.
  std::vector<PlanAlternative> Counting(const PlanGroup& group) const {
    std::vector<PlanAlternative> counting;
    for (const PlanAlternative& alternative : group.alternatives) {
      if (alternative.kind != AlternativeKind::kTypo) counting.push_back(alternative);
    }
    const bool known = std::any_of(counting.begin(), counting.end(),
                                   [&](const PlanAlternative& alternative) { return DocumentFrequency(alternative) > 0; });
    return known ? counting : group.alternatives;
  }

  double Idf(const PlanGroup& group) const {
    const double total = static_cast<double>(documents.size());
    const std::set<std::string_view> terms = SingleTerms(group);
    double frequency = 0;
    for (const ModelDocument& document : documents) {
      frequency += Holds(document, terms);
    }
    for (const PlanAlternative& alternative : Counting(group)) {
      if (alternative.terms.size() > 1) frequency += DocumentFrequency(alternative);
    }
    frequency = std::min(frequency, total);
    return std::log(1 + (total - frequency + 0.5) / (frequency + 0.5));
  }

  // Factors that the saturated frequencies of groups and pairs are multiplied with.
  struct Pair {
    std::set<std::string_view> first;
    std::set<std::string_view> second;
    double weight;
  };
  struct Factors {
    std::vector<double> groups;  // boost * idf
    std::vector<float> longer;   // greatest weight of a longer word that occurs in a document, by group
    std::vector<Pair> pairs;
    std::vector<std::set<std::string_view>> whole;  // terms by word of the query, for whole fields
    double whole_value = 0;
  };

  Factors Weights(const QueryPlan& plan) const {
    Factors weights;
    std::vector<double> idf;
    for (const PlanGroup& group : plan.groups) {
      idf.push_back(Idf(group));
      weights.longer.push_back(0);
      for (const PlanAlternative& alternative : group.alternatives) {
        if (!IsLonger(alternative) || DocumentFrequency(alternative) == 0) continue;
        weights.longer.back() = std::max(weights.longer.back(), alternative.weight);
      }
      weights.groups.push_back(double{group.boost} * idf.back());
    }
    if (plan.whole_field_weight > 0) {
      for (const uint16_t group : plan.whole) weights.whole.push_back(WholeTerms(plan.groups[group]));
      for (const uint16_t group : std::set<uint16_t>(plan.whole.begin(), plan.whole.end())) {
        weights.whole_value += double{plan.whole_field_weight} * weights.groups[group];
      }
    }
    if (plan.proximity_weight == 0) return weights;
    std::set<std::pair<uint16_t, uint16_t>> pairs;
    for (size_t i = 1; i < plan.sequence.size(); ++i) pairs.emplace(plan.sequence[i - 1], plan.sequence[i]);
    for (const auto& [first, second] : pairs) {
      const std::set<std::string_view> terms = SingleTerms(plan.groups[first]);
      const std::set<std::string_view> others = SingleTerms(plan.groups[second]);
      const bool shares = std::any_of(terms.begin(), terms.end(), [&](auto term) { return others.contains(term); });
      if (first != second && !shares) {
        weights.pairs.push_back({terms, others, double{plan.proximity_weight} * (idf[first] + idf[second]) / 2});
      }
    }
    return weights;
  }

  // Returns the sum of weight units / distance over occurrences of the two groups within 8 positions of each other.
  double Nearness(const ModelDocument& document, const Pair& pair) const {
    double sum = 0;
    for (size_t field = 0; field < document.fields.size(); ++field) {
      std::vector<std::pair<int, std::string_view>> words;
      for (const auto& value : document.fields[field]) {
        int position = words.empty() ? 0 : words.back().first + 2;
        for (const std::string& word : value) words.emplace_back(position++, word);
      }
      for (const auto& [position, word] : words) {
        for (const auto& [other_position, other] : words) {
          const int distance = std::abs(position - other_position);
          if (distance == 0 || distance > 8 || !pair.first.contains(word) || !pair.second.contains(other)) continue;
          sum += double{1} * schema.text_field_weight_units[field] / distance;
        }
      }
    }
    return sum;
  }

  // Returns the greatest weight units of a field whose only value is the query, or 0 if there is none.
  double WholeUnits(const ModelDocument& document, const Factors& weights) const {
    double units = 0;
    for (size_t field = 0; field < document.fields.size() && !weights.whole.empty(); ++field) {
      std::vector<std::string> words;
      size_t values = 0;
      for (const auto& value : document.fields[field]) {
        values += !value.empty();
        words.insert(words.end(), value.begin(), value.end());
      }
      const bool is_whole = values == 1 && words.size() == weights.whole.size() &&
                            std::equal(words.begin(), words.end(), weights.whole.begin(),
                                       [](const auto& word, const auto& terms) { return terms.contains(word); });
      if (is_whole) units = std::max<double>(units, schema.text_field_weight_units[field]);
    }
    return units;
  }

  static bool IsLonger(const PlanAlternative& alternative) {
    return alternative.kind == AlternativeKind::kCompound && alternative.terms.size() == 1;
  }

  // Returns the frequency that the occurrences of longer words add to a word.
  double JoinedFrequency(double weighted, double weight, bool has_exact) const {
    const double units = std::ranges::min(schema.text_field_weight_units);
    const double occurrences = weighted / units;
    const double share = has_exact ? occurrences : occurrences / (occurrences + (1 - weight));
    return std::floor(std::clamp(share * 256, 1.0, 65534.0)) * units / 256;
  }

  // Returns the score before division by the maximum, or -1 if the document does not match the groups.
  double RawScore(const ModelDocument& document, const QueryPlan& plan, const Factors& weights) const {
    bool has_must = false;
    bool has_should = false;
    bool should_matches = false;
    double score = 0;
    const uint8_t norm = generation->segments[document.segment].segment->norms()[document.document];
    const double length = double{NormLengths()[norm]};
    const double saturation = 1.5 * (0.35 + 0.65 * length / generation->average_length);
    for (size_t i = 0; i < plan.groups.size(); ++i) {
      const PlanGroup& group = plan.groups[i];
      double frequency = 0;
      double exact = 0;
      double longer = 0;
      for (const PlanAlternative& alternative : group.alternatives) {
        const double weighted = double{alternative.weight} * Frequency(document, alternative);
        const bool is_longer = group.occur != Occur::kMustNot && IsLonger(alternative);
        (is_longer ? longer : frequency) += weighted;
        if (!is_longer && alternative.terms.size() == 1 && alternative.kind != AlternativeKind::kTypo) exact += weighted;
      }
      if (longer > 0) frequency += JoinedFrequency(longer, weights.longer[i], exact > 0);
      if (group.occur == Occur::kMustNot) {
        if (frequency > 0) return -1;
        continue;
      }
      has_must |= group.occur == Occur::kMust;
      has_should |= group.occur == Occur::kShould;
      if (group.occur == Occur::kMust && frequency == 0) return -1;
      should_matches |= group.occur == Occur::kShould && frequency > 0;
      if (frequency > 0) score += weights.groups[i] * frequency / (frequency + saturation);
    }
    if (!has_must && has_should && !should_matches) return -1;
    for (const Pair& pair : weights.pairs) {
      const double nearness = Nearness(document, pair);
      score += pair.weight * nearness / (nearness + saturation);
    }
    const double units = WholeUnits(document, weights);
    score += weights.whole_value * units / (units + saturation);
    return score;
  }

  bool IsString(uint16_t column) const { return schema.columns[column].type == ColumnType::kString; }

  static GeoPoint AsStored(const GeoPoint& point) {
    return {std::round(point.latitude * 1e7) / 1e7, std::round(point.longitude * 1e7) / 1e7};
  }

  // Compares with the box and with the same box one turn to the west and to the east.
  static bool IsInBox(const GeoPoint& south_west, const GeoPoint& north_east, const GeoPoint& point) {
    if (point.latitude < south_west.latitude || point.latitude > north_east.latitude) return false;
    const double width = north_east.longitude - south_west.longitude;
    const double east = width < 0 ? north_east.longitude + 360 : north_east.longitude;
    for (const double turn : {-720, -360, 0, 360, 720}) {
      if (point.longitude + turn >= south_west.longitude && point.longitude + turn <= east) return true;
    }
    return false;
  }

  bool Passes(const ModelDocument& document, const FilterNode& node) const {
    const auto any_equal = [&](const PlanValue& value) {
      FilterNode equal = node;
      equal.op = FilterOp::kEqual;
      equal.values = {value};
      return Passes(document, equal);
    };
    switch (node.op) {
      case FilterOp::kAll:
        return true;
      case FilterOp::kAnd:
        return std::all_of(node.children.begin(), node.children.end(),
                           [&](const auto& child) { return Passes(document, child); });
      case FilterOp::kOr:
        return std::any_of(node.children.begin(), node.children.end(),
                           [&](const auto& child) { return Passes(document, child); });
      case FilterOp::kNot:
        return !Passes(document, node.children[0]);
      case FilterOp::kNotEqual:
        return !any_equal(node.values[0]);
      case FilterOp::kIn:
        return std::any_of(node.values.begin(), node.values.end(), any_equal);
      case FilterOp::kRecord:
        return std::any_of(node.values.begin(), node.values.end(),
                           [&](const PlanValue& value) { return value.is_number && value.number == document.record_number; });
      case FilterOp::kIsNull:
        return schema.columns[node.column].type == ColumnType::kLocation ? !document.location.has_value()
               : IsString(node.column)                                   ? !document.strings.contains(node.column)
                                                                         : !document.numbers.contains(node.column);
      case FilterOp::kWithin:
        return schema.columns[node.column].type == ColumnType::kLocation && document.location &&
               DistanceMetres(node.centre, *document.location) <= node.metres;
      case FilterOp::kInBox:
        return schema.columns[node.column].type == ColumnType::kLocation && document.location &&
               IsInBox(AsStored(node.centre), AsStored(node.opposite), *document.location);
      default:
        break;
    }
    const PlanValue& value = node.values[0];
    if (schema.columns[node.column].type == ColumnType::kLocation || value.is_number == IsString(node.column))
      return false;
    if (value.is_number) return AnyHolds(document.numbers, node, value.number);
    return AnyHolds(document.strings, node, std::string(value.text));
  }

  std::vector<ModelHit> Matches(const QueryPlan& plan, double maximum) const {
    const Factors weights = Weights(plan);
    const bool scores = std::any_of(plan.groups.begin(), plan.groups.end(),
                                    [](const PlanGroup& group) { return group.occur != Occur::kMustNot; });
    std::vector<ModelHit> hits;
    for (const ModelDocument& document : documents) {
      const double raw = RawScore(document, plan, weights);
      if (raw < 0 || document.deleted || !Passes(document, plan.filter)) continue;
      hits.push_back({&document, scores ? raw / maximum : 1});
    }
    return hits;
  }

 private:
  std::set<std::string_view> WholeTerms(const PlanGroup& group) const {
    std::set<std::string_view> terms;
    for (const PlanAlternative& alternative : Counting(group)) {
      if (alternative.terms.size() == 1 && alternative.weight >= kWholeFieldTermWeightMin) {
        terms.insert(alternative.terms[0]);
      }
    }
    return terms;
  }

  std::set<std::string_view> SingleTerms(const PlanGroup& group) const {
    std::set<std::string_view> terms;
    for (const PlanAlternative& alternative : Counting(group)) {
      if (alternative.terms.size() == 1) terms.insert(alternative.terms[0]);
    }
    return terms;
  }

  template <typename T>
  static bool AnyHolds(const std::map<uint16_t, std::vector<T>>& columns, const FilterNode& node, const T& wanted) {
    const auto found = columns.find(node.column);
    if (found == columns.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const T& value) {
      switch (node.op) {
        case FilterOp::kLess:
          return value < wanted;
        case FilterOp::kLessOrEqual:
          return value <= wanted;
        case FilterOp::kGreater:
          return value > wanted;
        case FilterOp::kGreaterOrEqual:
          return value >= wanted;
        default:
          return value == wanted;
      }
    });
  }
};

}  // namespace gannet::test
