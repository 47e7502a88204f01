#include "prepared_query.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "../segment/norm.h"
#include "score_bound.h"

namespace gannet {
namespace {

// Weights this small would underflow to zero in a product, and a score of zero means no match to the evaluator.
constexpr float kGroupWeightMin = 1e-20f;
constexpr float kAlternativeWeightMin = 1e-6f;

class QueryPreparer {
 public:
  QueryPreparer(const Generation& generation, PreparedQuery* query) : generation_(generation), query_(*query) {}

  void Prepare(const QueryPlan& plan) {
    for (uint32_t i = 0; i < plan.groups.size(); ++i) query_.groups.push_back(PrepareGroup(plan.groups[i], i));
    for (const PreparedGroup& group : query_.groups) {
      query_.has_scoring_groups |= group.scores();
      query_.has_must |= group.occur == Occur::kMust;
    }
    const auto& lengths = NormLengths();
    for (size_t code = 0; code < 256; ++code) {
      query_.saturation[code] = static_cast<float>(
          kSaturationK1 * (1 - kLengthB + kLengthB * double{lengths[code]} / generation_.average_length));
    }
    const double maximum = BoundScores(&query_);
    query_.maximum = maximum > 0 ? maximum : 1;
    for (PreparedGroup& group : query_.groups) {
      group.weight = std::max(static_cast<float>(double{group.boost} * group.idf / query_.maximum), kGroupWeightMin);
    }
    std::stable_sort(query_.groups.begin(), query_.groups.end(),
                     [](const PreparedGroup& a, const PreparedGroup& b) { return a.bound > b.bound; });
  }

 private:
  PreparedGroup PrepareGroup(const PlanGroup& source, uint32_t plan_index) {
    PreparedGroup group;
    group.occur = source.occur;
    group.plan_index = plan_index;
    group.boost = source.boost;
    double document_frequency = 0;
    for (const PlanAlternative& alternative : source.alternatives) {
      group.alternatives.push_back(PrepareAlternative(alternative));
      document_frequency += static_cast<double>(group.alternatives.back().document_frequency);
    }
    const double total = static_cast<double>(generation_.document_count);
    document_frequency = std::min(document_frequency, total);
    group.idf = std::log(1 + (total - document_frequency + 0.5) / (document_frequency + 0.5));
    return group;
  }

  PreparedAlternative PrepareAlternative(const PlanAlternative& source) {
    PreparedAlternative alternative;
    alternative.weight = std::max(source.weight, kAlternativeWeightMin);
    alternative.document_frequency = UINT64_MAX;
    for (const std::string_view text : source.terms) {
      const uint32_t term = FindTerm(text);
      alternative.terms.push_back(term);
      alternative.document_frequency = std::min(alternative.document_frequency, query_.terms[term].document_frequency);
    }
    return alternative;
  }

  uint32_t FindTerm(std::string_view text) {
    const auto [entry, is_new] = term_indexes_.try_emplace(text, static_cast<uint32_t>(query_.terms.size()));
    if (is_new) {
      PreparedTerm term;
      term.text = text;
      term.lists.reserve(generation_.segments.size());
      for (const SegmentView& view : generation_.segments) {
        term.lists.push_back(view.segment->FindTerm(text));
        term.document_frequency += term.lists.back().document_frequency();
      }
      query_.terms.push_back(std::move(term));
    }
    return entry->second;
  }

  const Generation& generation_;
  PreparedQuery& query_;
  std::unordered_map<std::string_view, uint32_t> term_indexes_;
};

}  // namespace

PreparedQuery PrepareQuery(const Generation& generation, const QueryPlan& plan) {
  PreparedQuery query;
  query.generation = &generation;
  QueryPreparer(generation, &query).Prepare(plan);
  return query;
}

}  // namespace gannet
