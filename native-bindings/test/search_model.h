// The search as one would write it without caring for speed: what the engine is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../kernel/engine/geo.h"
#include "../kernel/segment/norm.h"
#include "search_support.h"

namespace gannet::test {

struct ModelDocument {
  uint32_t record_number = 0;
  bool deleted = false;
  uint32_t segment = 0;
  uint32_t document = 0;
  // By text field, its values, their words.
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

  double DocumentFrequency(const PlanAlternative& alternative) const {
    double least = INFINITY;
    for (const std::string_view term : alternative.terms) {
      double count = 0;
      for (const ModelDocument& document : documents) count += Frequency(document, {1, {term}}) > 0;
      least = std::min(least, count);
    }
    return least;
  }

  // boost * idf of each group.
  std::vector<double> Weights(const QueryPlan& plan) const {
    std::vector<double> weights;
    const double total = static_cast<double>(documents.size());
    for (const PlanGroup& group : plan.groups) {
      double frequency = 0;
      for (const PlanAlternative& alternative : group.alternatives) frequency += DocumentFrequency(alternative);
      frequency = std::min(frequency, total);
      weights.push_back(double{group.boost} * std::log(1 + (total - frequency + 0.5) / (frequency + 0.5)));
    }
    return weights;
  }

  // Sum before division by the maximum; negative where the document does not match the groups.
  double RawScore(const ModelDocument& document, const QueryPlan& plan, const std::vector<double>& weights) const {
    bool has_must = false;
    bool has_should = false;
    bool should_matches = false;
    double score = 0;
    const uint8_t norm = generation->segments[document.segment].segment->norms()[document.document];
    const double length = double{NormLengths()[norm]};
    const double saturation = 1.2 * (0.25 + 0.75 * length / generation->average_length);
    for (size_t i = 0; i < plan.groups.size(); ++i) {
      const PlanGroup& group = plan.groups[i];
      double frequency = 0;
      for (const PlanAlternative& alternative : group.alternatives) {
        frequency += double{alternative.weight} * Frequency(document, alternative);
      }
      if (group.occur == Occur::kMustNot) {
        if (frequency > 0) return -1;
        continue;
      }
      has_must |= group.occur == Occur::kMust;
      has_should |= group.occur == Occur::kShould;
      if (group.occur == Occur::kMust && frequency == 0) return -1;
      should_matches |= group.occur == Occur::kShould && frequency > 0;
      if (frequency > 0) score += weights[i] * frequency / (frequency + saturation);
    }
    if (!has_must && has_should && !should_matches) return -1;
    return score;
  }

  bool IsString(uint16_t column) const { return schema.columns[column].type == ColumnType::kString; }

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
      case FilterOp::kIsNull:
        return schema.columns[node.column].type == ColumnType::kLocation ? !document.location.has_value()
               : IsString(node.column)                                   ? !document.strings.contains(node.column)
                                                                         : !document.numbers.contains(node.column);
      case FilterOp::kWithin:
        return schema.columns[node.column].type == ColumnType::kLocation && document.location &&
               DistanceMetres(node.centre, *document.location) <= node.metres;
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
    const std::vector<double> weights = Weights(plan);
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
