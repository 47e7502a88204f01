#include "prepared_query.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory_resource>
#include <numeric>
#include <set>
#include <unordered_map>

#include "../analysis/signed_words.h"
#include "../common/stop.h"
#include "../postings/norm.h"
#include "longer_words.h"
#include "score_bound.h"
#include "union_frequency.h"
#include "whole_field_finder.h"

namespace gannet {
namespace {

// Smaller weights would underflow to zero in a product, and a score of zero means no match to the evaluator.
constexpr float kGroupWeightMin = 1e-20f;
constexpr float kAlternativeWeightMin = 1e-6f;
// The bonus is a sum of floats that is added to a float; its bound is computed in doubles.
constexpr double kBonusFactor = 1 + 1e-5;
constexpr double kBonusMargin = 1e-6;
// Lists per term for which room is reserved, so that memory is seldom allocated.
constexpr size_t kListsPerTerm = 4;

// Terms that are looked up in all segments.
struct SoughtTerms {
  std::vector<std::string_view> texts;
  std::vector<uint32_t> hashes;  // empty until a segment is to be looked up in: most entries are cached
  std::string key;               // all of them
};

std::vector<TermEntry> FindTermEntries(const Segment& segment, SoughtTerms* terms) {
  std::vector<TermEntry> found;
  StopIfAsked();
  if (terms->hashes.empty()) std::ranges::transform(terms->texts, std::back_inserter(terms->hashes), HashTerm);
  for (uint32_t place = 0; place < terms->texts.size(); ++place) {
    const std::span<const uint8_t> entry = segment.FindEntry(terms->texts[place], terms->hashes[place]);
    if (!entry.empty()) found.push_back({entry.data(), static_cast<uint32_t>(entry.size()), place});
  }
  return found;
}

// Caches the entries, because the same words come again and again, with the same forms and spellings.
TermEntries KeptTermEntries(const Segment& segment, SoughtTerms* terms) {
  if (auto kept = segment.cache().term_entries.Find(terms->key)) return *std::move(kept);
  const std::vector<TermEntry> found = FindTermEntries(segment, terms);
  auto entries = std::make_shared<const std::vector<TermEntry>>(found.begin(), found.end());
  if (entries->size() <= kCachedEntriesMax) segment.cache().term_entries.Keep(terms->key, entries);
  return entries;
}

// The entries of the searched terms in one segment.
struct FoundTerms {
  uint32_t segment;
  TermEntries kept;              // null if the entries are not cached
  std::vector<TermEntry> anew;

  const std::vector<TermEntry>& entries() const { return kept ? *kept : anew; }
};

// Returns the list of the term that was asked for at `place`; an empty one if the segment lacks the term.
PostingList ListAt(const Segment& segment, const std::vector<TermEntry>& entries, uint32_t place) {
  const auto entry = std::ranges::lower_bound(entries, place, {}, &TermEntry::place);
  if (entry == entries.end() || entry->place != place) return {};
  return segment.Postings({entry->at, entry->size});
}

class QueryPreparer {
 public:
  QueryPreparer(const Generation& generation, PreparedQuery* query) : generation_(generation), query_(*query) {}

  void Prepare(const QueryPlan& plan, bool for_scores) {
    query_.terms.reserve(CountTerms(plan));
    query_.lists.reserve(query_.terms.capacity() * kListsPerTerm);
    query_.groups.reserve(plan.groups.size());
    query_.has_terms.resize(generation_.segments.size());
    for (uint32_t i = 0; i < plan.groups.size(); ++i) query_.groups.push_back(PrepareGroup(plan.groups[i], i));
    PlaceLists();
    if (for_scores) JoinLongerWords(&query_);
    for (PreparedGroup& group : query_.groups) OrderSumming(&group);
    for (const PreparedGroup& group : query_.groups) {
      query_.has_scoring_groups |= group.scores();
      query_.has_must |= group.occur == Occur::kMust;
    }
    if (!for_scores) return;
    for (PreparedGroup& group : query_.groups) PrepareScoring(&group);
    const auto& lengths = NormLengths();
    for (size_t code = 0; code < 256; ++code) {
      query_.saturation[code] = static_cast<float>(
          kSaturationK1 * (1 - kLengthB + kLengthB * double{lengths[code]} / generation_.average_length));
    }
    PreparePairs(plan);
    PrepareWhole(plan);
    const double maximum = BoundScores(&query_);
    query_.maximum = maximum > 0 ? maximum : 1;
    ScaleBonus();
    for (PreparedGroup& group : query_.groups) {
      group.weight = std::max(static_cast<float>(double{group.boost} * group.idf / query_.maximum), kGroupWeightMin);
    }
    SortGroups();
  }

 private:
  PreparedGroup PrepareGroup(const PlanGroup& source, uint32_t plan_index) {
    PreparedGroup group;
    group.occur = source.occur;
    group.plan_index = plan_index;
    group.boost = source.boost;
    FindTerms(source);
    group.alternatives.reserve(source.alternatives.size());
    uint32_t first = 0;
    for (const PlanAlternative& alternative : source.alternatives) {
      group.alternatives.push_back(PrepareAlternative(alternative, first));
      first += static_cast<uint32_t>(alternative.terms.size());
    }
    return group;
  }

  void PrepareScoring(PreparedGroup* group) const {
    if (!group->scores()) return;
    ChooseCounting(group);
    const double total = static_cast<double>(generation_.document_count);
    const double document_frequency = std::min(CountDocuments(*group), total);
    group->idf = std::log(1 + (total - document_frequency + 0.5) / (document_frequency + 0.5));
  }

  static size_t CountTerms(const QueryPlan& plan) {
    size_t count = 0;
    for (const PlanGroup& group : plan.groups) {
      for (const PlanAlternative& alternative : group.alternatives) count += alternative.terms.size();
    }
    return count;
  }

  // Sets an order that is the same in all segments, with the terms last that are the rarest in most.
  static void OrderSumming(PreparedGroup* group) {
    const auto& alternatives = group->alternatives;
    group->summing_order.resize(alternatives.size());
    std::iota(group->summing_order.begin(), group->summing_order.end(), 0u);
    std::ranges::stable_sort(group->summing_order, [&](uint32_t a, uint32_t b) {
      if (alternatives[a].is_phrase() != alternatives[b].is_phrase()) return alternatives[a].is_phrase();
      return alternatives[a].document_frequency > alternatives[b].document_frequency;
    });
  }

  // Typos count only if no document has any other alternative of the group.
  static void ChooseCounting(PreparedGroup* group) {
    const auto is_known = [](const PreparedAlternative& alternative) {
      return alternative.kind != AlternativeKind::kTypo && alternative.document_frequency > 0;
    };
    const bool known = std::any_of(group->alternatives.begin(), group->alternatives.end(), is_known);
    for (const PreparedAlternative& longer : group->longer) {
      group->sequence_terms.push_back(longer.terms[0]);
      if (longer.weight >= kWholeFieldTermWeightMin) group->whole_terms.push_back(longer.terms[0]);
    }
    for (PreparedAlternative& alternative : group->alternatives) {
      alternative.counts = !known || alternative.kind != AlternativeKind::kTypo;
      if (!alternative.counts || alternative.is_phrase() || alternative.is_joined) continue;
      group->sequence_terms.push_back(alternative.terms[0]);
      if (alternative.weight >= kWholeFieldTermWeightMin) group->whole_terms.push_back(alternative.terms[0]);
    }
    for (auto* terms : {&group->sequence_terms, &group->whole_terms}) {
      std::sort(terms->begin(), terms->end());
      terms->erase(std::unique(terms->begin(), terms->end()), terms->end());
    }
  }

  // Returns the distinct terms that have a list of their own.
  static std::vector<uint32_t> ExactTerms(const PreparedGroup& group) {
    std::set<uint32_t> terms;
    for (const PreparedAlternative& alternative : group.alternatives) {
      if (alternative.counts && !alternative.is_phrase() && !alternative.is_joined) terms.insert(alternative.terms[0]);
    }
    return {terms.begin(), terms.end()};
  }

  double CountDocuments(const PreparedGroup& group) const {
    auto count = static_cast<double>(group.without_exact);
    if (group.longer.empty()) count += static_cast<double>(CountUnion(query_, group.sequence_terms));
    else count += static_cast<double>(CountUnion(query_, ExactTerms(group)));
    for (const PreparedAlternative& alternative : group.alternatives) {
      if (alternative.counts && alternative.is_phrase()) count += static_cast<double>(alternative.document_frequency);
    }
    return count;
  }

  void PreparePairs(const QueryPlan& plan) {
    if (plan.proximity_weight == 0) return;
    const auto& sequence = plan.sequence;
    for (size_t i = 1; i < sequence.size(); ++i) {
      const uint32_t first = sequence[i - 1];
      const uint32_t second = sequence[i];
      if (first == second || ShareTerm(query_.groups[first], query_.groups[second])) continue;
      const auto is_same = [&](const PreparedPair& pair) {
        return std::minmax(pair.first, pair.second) == std::minmax(first, second);
      };
      const auto found = std::find_if(query_.pairs.begin(), query_.pairs.end(), is_same);
      if (found == query_.pairs.end()) {
        query_.pairs.push_back({first, second, 1, 0});
      } else if (found->first == second) {
        found->orders = 2;
      }
    }
    for (PreparedPair& pair : query_.pairs) {
      const double idf = (query_.groups[pair.first].idf + query_.groups[pair.second].idf) / 2;
      pair.value = double{plan.proximity_weight} * idf * pair.orders;
    }
  }

  void PrepareWhole(const QueryPlan& plan) {
    if (plan.whole_field_weight == 0 || plan.whole.empty()) return;
    std::vector<const std::vector<uint32_t>*> places;
    for (const uint32_t index : plan.whole) {
      places.push_back(&query_.groups[index].whole_terms);
      if (places.back()->empty()) return;
    }
    PreparedWhole& whole = query_.whole;
    bool is_found = false;
    for (uint32_t segment = 0; segment < generation_.segments.size(); ++segment) {
      const Segment& source = *generation_.segments[segment].segment;
      whole.matches.push_back(FindWholeFields(source, segment, query_.terms, places));
      is_found |= !whole.matches.back()->empty();
    }
    if (!is_found) whole.matches.clear();
    for (const uint32_t index : std::set<uint32_t>(plan.whole.begin(), plan.whole.end())) {
      const PreparedGroup& group = query_.groups[index];
      whole.value += double{plan.whole_field_weight} * double{group.boost} * group.idf;
    }
  }

  static bool ShareTerm(const PreparedGroup& a, const PreparedGroup& b) {
    return std::any_of(a.sequence_terms.begin(), a.sequence_terms.end(), [&](uint32_t term) {
      return std::binary_search(b.sequence_terms.begin(), b.sequence_terms.end(), term);
    });
  }

  void ScaleBonus() {
    std::stable_sort(query_.pairs.begin(), query_.pairs.end(),
                     [](const PreparedPair& a, const PreparedPair& b) { return a.bound > b.bound; });
    ScaleWhole();
    double rest = 0;
    for (auto pair = query_.pairs.rbegin(); pair != query_.pairs.rend(); ++pair) {
      rest += pair->bound;
      pair->weight = std::max(static_cast<float>(pair->value / query_.maximum), kGroupWeightMin);
      pair->rest_bound = static_cast<float>(rest / query_.maximum * kBonusFactor + kBonusMargin);
    }
    if (query_.pairs.empty()) return;
    float most = 0;
    for (float& bound : query_.pairs_bound) {
      if (bound > 0) bound = static_cast<float>(double{bound} / query_.maximum * kBonusFactor + kBonusMargin);
      most = std::max(most, bound);
    }
    query_.pairs_bound_max = most;
  }

  void ScaleWhole() {
    PreparedWhole& whole = query_.whole;
    whole.weight = std::max(static_cast<float>(whole.value / query_.maximum), kGroupWeightMin);
    for (uint32_t segment = 0; segment < whole.matches.size(); ++segment) {
      const std::span<const uint8_t> norms = generation_.segments[segment].segment->norms();
      for (const WholeFieldMatch& match : *whole.matches[segment]) {
        const double units = match.units;
        const double share = units / (units + query_.saturation[norms[match.document]]);
        const double bound = whole.value * share / query_.maximum * kBonusFactor + kBonusMargin;
        whole.bound = std::max(whole.bound, static_cast<float>(bound));
      }
    }
  }

  // Sorts by falling bound, and adjusts the groups' indexes in pairs.
  void SortGroups() {
    std::stable_sort(query_.groups.begin(), query_.groups.end(),
                     [](const PreparedGroup& a, const PreparedGroup& b) { return a.bound > b.bound; });
    std::vector<uint32_t> places(query_.groups.size());
    for (uint32_t i = 0; i < places.size(); ++i) places[query_.groups[i].plan_index] = i;
    for (PreparedPair& pair : query_.pairs) {
      pair.first = places[pair.first];
      pair.second = places[pair.second];
    }
  }

  // Sets found_ to the stored entries of the group's terms, in the order of its alternatives.
  void FindTerms(const PlanGroup& group) {
    sought_.texts.clear();
    sought_.hashes.clear();
    sought_.key.clear();
    for (const PlanAlternative& alternative : group.alternatives) {
      for (const std::string_view text : alternative.terms) {
        query_.has_signed_terms |= IsSigned(text);
        sought_.texts.push_back(text);
        AppendKeyPart(text, &sought_.key);
      }
    }
    found_.clear();
    for (uint32_t i = 0; i < generation_.segments.size(); ++i) {
      const Segment& segment = *generation_.segments[i].segment;
      FoundTerms found{i, nullptr, {}};
      if (segment.has_table()) found.anew = FindTermEntries(segment, &sought_);
      else found.kept = KeptTermEntries(segment, &sought_);
      // Parsed when all are known. Nearly every one is at another place of the file.
      for (const TermEntry& entry : found.entries()) __builtin_prefetch(entry.at);
      if (!found.entries().empty()) found_.push_back(std::move(found));
    }
  }

  // The alternative's terms are the found ones from index `first` on.
  PreparedAlternative PrepareAlternative(const PlanAlternative& source, uint32_t first) {
    PreparedAlternative alternative;
    alternative.weight = std::max(source.weight, kAlternativeWeightMin);
    alternative.kind = source.kind;
    alternative.document_frequency = UINT64_MAX;
    for (uint32_t i = 0; i < source.terms.size(); ++i) {
      const uint32_t term = AddTerm(source.terms[i], first + i);
      alternative.terms.push_back(term);
      alternative.document_frequency = std::min(alternative.document_frequency, query_.terms[term].document_frequency);
    }
    return alternative;
  }

  uint32_t AddTerm(std::string_view text, uint32_t place) {
    const auto [entry, is_new] = term_indexes_.try_emplace(text, static_cast<uint32_t>(query_.terms.size()));
    if (is_new) {
      PreparedTerm term;
      term.text = text;
      for (const FoundTerms& found : found_) {
        const PostingList list = ListAt(*generation_.segments[found.segment].segment, found.entries(), place);
        if (list.document_frequency() == 0) continue;
        query_.lists.push_back({found.segment, list});
        ++term.list_count;
        term.document_frequency += list.document_frequency();
        query_.has_terms[found.segment] = true;
      }
      query_.terms.push_back(term);
    }
    return entry->second;
  }

  // To be called once all terms are known.
  void PlaceLists() {
    const std::span<const SegmentList> lists(query_.lists);
    size_t begin = 0;
    for (PreparedTerm& term : query_.terms) {
      term.lists = TermLists(lists.subspan(begin, term.list_count));
      begin += term.list_count;
    }
  }

  const Generation& generation_;
  PreparedQuery& query_;
  std::array<std::byte, 4096> memory_;
  std::pmr::monotonic_buffer_resource resource_{memory_.data(), memory_.size()};
  std::pmr::unordered_map<std::string_view, uint32_t> term_indexes_{&resource_};
  // State of the current group.
  SoughtTerms sought_;
  std::vector<FoundTerms> found_;  // of the segments that have any of the terms
};

}  // namespace

float PreparedQuery::BonusBound(const PreparedPair& pair) const {
  return static_cast<float>(pair.bound / maximum * kBonusFactor + kBonusMargin);
}

PreparedQuery PrepareQuery(const Generation& generation, const QueryPlan& plan, bool for_scores) {
  PreparedQuery query;
  query.generation = &generation;
  QueryPreparer(generation, &query).Prepare(plan, for_scores);
  return query;
}

}  // namespace gannet
