#include "distinct_count.h"

#include <algorithm>
#include <memory>

#include "../common/bits.h"
#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "facet_values.h"
#include "united_values.h"
#include "value_words.h"

namespace gannet {
namespace {

// A segment of a list that has matches.
struct Unit {
  const DistinctList* list;
  const Segment* segment;
  std::span<const uint64_t> matches;
  uint32_t first;  // the documents of all units are numbered in a row, from this one on
};

std::vector<Unit> UnitsOf(std::span<const DistinctList> lists) {
  std::vector<Unit> units;
  uint64_t documents = 0;
  for (const DistinctList& list : lists) {
    for (size_t i = 0; i < list.generation->segments.size(); ++i) {
      const std::span<const uint64_t> matches = list.matches.Of(i);
      if (matches.empty()) continue;
      const Segment& segment = *list.generation->segments[i].segment;
      units.push_back({&list, &segment, matches, static_cast<uint32_t>(documents)});
      documents += segment.document_count();
      if (documents > 0xffffffffu) throw Error(ErrorCode::kLimit, "too many records are counted together");
    }
  }
  return units;
}

// Returns, for each unit, the column that `column_of` returns for its list. A column of another type than the first one
// is left out, as if the documents had no value.
template <typename ColumnOf>
std::vector<ValueSource> SourcesOf(std::span<const Unit> units, ColumnOf&& column_of) {
  std::vector<ValueSource> sources;
  std::optional<ColumnType> type;
  for (const Unit& unit : units) {
    const std::optional<uint32_t> column = column_of(*unit.list);
    const Column* values = column ? FindColumn(*unit.segment, *column) : nullptr;
    if (values != nullptr && values->type() == ColumnType::kLocation) {
      throw Error(ErrorCode::kInvalidArgument, "values of a location are counted");
    }
    if (values != nullptr && values->type() != type.value_or(values->type())) values = nullptr;
    if (values != nullptr) type = values->type();
    sources.push_back({values, values == nullptr ? std::span<const uint64_t>() : unit.matches});
  }
  return sources;
}

class DistinctFacet {
 public:
  DistinctFacet(std::span<const DistinctList> lists, std::span<const Unit> units, uint32_t kind)
      : lists_(lists),
        kind_(kind),
        values_(SourcesOf(units, [&](const DistinctList& list) { return ColumnOf(list); }), false),
        counts_(values_.end()) {}

  // Counts the values of a match of a unit. `hit` is the number, from 1, of the hit that it belongs to; matches of a
  // hit follow one another.
  void Count(size_t unit, uint32_t document, uint32_t hit) {
    values_.ForEachOf(unit, document, [&](uint32_t number) {
      Counted& counted = counts_[number];
      counted.hits += counted.last_hit != hit;
      counted.last_hit = hit;
    });
  }

  void AppendTo(const DistinctFacets& facets, DistinctCounts* out) const {
    const bool is_string = values_.type() == ColumnType::kString;
    MostFrequentValues most(facets.values_wanted);
    ValueWords words(facets.words);
    std::optional<std::pair<double, double>> range;
    for (uint32_t number = 0; number < counts_.size(); ++number) {
      StopIfAskedAt(number);
      const uint32_t count = counts_[number].hits;
      if (count == 0) continue;
      FacetValue value{{}, 0, count};
      if (is_string) {
        value.key = values_.KeyOf(number);
        if (!words.Match(value.key)) continue;
      } else {
        value.number = values_.NumberOf(number);
        if (!range) range.emplace(value.number, value.number);
        range->first = std::min(range->first, value.number);
        range->second = std::max(range->second, value.number);
      }
      most.Offer(value);
    }
    const auto append_value = [&](const FacetValue& value, std::string* text) {
      if (is_string) return AppendJsonString(Display(value.key), text);
      AppendFacetNumber(values_.type(), value.number, text);
    };
    AppendFacetValues(most.Take(), append_value, &out->facets.emplace_back());
    std::string& shown = out->ranges.emplace_back();
    if (range && HasRange(values_.type())) AppendFacetRange(values_.type(), range->first, range->second, &shown);
  }

 private:
  struct Counted {
    uint32_t hits = 0;
    uint32_t last_hit = 0;
  };

  std::optional<uint32_t> ColumnOf(const DistinctList& list) const {
    const auto found = std::ranges::find(list.facets, kind_, &CountedColumn::kind);
    return found == list.facets.end() ? std::nullopt : std::optional(found->column);
  }

  std::string_view Display(std::string_view key) const {
    for (const DistinctList& list : lists_) {
      const std::optional<uint32_t> column = ColumnOf(list);
      if (const auto display = column ? DisplayOf(*list.generation, *column, key) : std::nullopt) return *display;
    }
    return key;
  }

  std::span<const DistinctList> lists_;
  uint32_t kind_;
  UnitedValues values_;
  std::vector<Counted> counts_;
};

class DistinctCounter {
 public:
  DistinctCounter(std::span<const DistinctList> lists, const DistinctFacets& facets)
      : lists_(lists), units_(UnitsOf(lists)) {
    for (const DistinctList& list : lists) sharing_.emplace_back(list.hits.size(), 1);
    facets_.reserve(facets.kinds);
    for (uint32_t kind = 0; kind < facets.kinds; ++kind) facets_.emplace_back(lists_, units_, kind);
  }

  // Counts the matches of the lists whose distinct column is of this kind.
  void CountKind(uint32_t kind) {
    const UnitedValues values(SourcesOf(units_,
                                        [&](const DistinctList& list) {
                                          const bool has = list.distinct && list.distinct->kind == kind;
                                          return has ? std::optional(list.distinct->column) : std::nullopt;
                                        }),
                              true);
    // begins[n + 1]: first the number of matches with the value n, then where they begin, then where they end.
    std::vector<uint32_t> begins(size_t{values.end()} + 2);
    uint64_t matches = 0;
    ForEachMatchOf(kind, [&](size_t unit, uint32_t document) {
      uint32_t number = kAlone;
      values.ForEachOf(unit, document, [&](uint32_t value) { number = value; });
      if (number == kAlone) return CountAlone(unit, document);
      ++matches;
      ++begins[size_t{number} + 2];
    });
    const auto different = static_cast<uint64_t>(std::ranges::count_if(begins, [](uint32_t count) { return count > 0; }));
    CountSharing(values, begins);
    if (facets_.empty()) {
      total_ += different;
      return;
    }
    std::vector<uint32_t> documents(matches);
    for (size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
    ForEachMatchOf(kind, [&](size_t unit, uint32_t document) {
      values.ForEachOf(unit, document, [&](uint32_t value) {
        documents[begins[size_t{value} + 1]++] = units_[unit].first + document;
      });
    });
    CountInOrder(begins, documents);
  }

  // Counts the matches of the lists that have no distinct column.
  void CountRest() {
    ForEachMatchOf(std::nullopt, [&](size_t unit, uint32_t document) { CountAlone(unit, document); });
  }

  DistinctCounts Take(const DistinctFacets& facets) const {
    DistinctCounts counts;
    counts.total = total_;
    counts.sharing = sharing_;
    for (const DistinctFacet& facet : facets_) facet.AppendTo(facets, &counts);
    return counts;
  }

 private:
  static constexpr uint32_t kAlone = 0xffffffffu;

  // Calls visit(unit, document) for each match of the lists whose distinct column is of the kind; nothing: that have
  // none.
  template <typename Visit>
  void ForEachMatchOf(std::optional<uint32_t> kind, Visit&& visit) const {
    size_t step = 0;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      const std::optional<CountedColumn>& distinct = units_[unit].list->distinct;
      if ((distinct ? std::optional(distinct->kind) : std::nullopt) != kind) continue;
      ForEachMatch(units_[unit].matches, [&](uint32_t document) {
        StopIfAskedAt(++step);
        visit(unit, document);
      });
    }
  }

  // `counts[n + 2]` is the number of matches with the value n.
  void CountSharing(const UnitedValues& values, std::span<const uint32_t> counts) {
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      const auto list = static_cast<size_t>(units_[unit].list - lists_.data());
      for (size_t hit = 0; hit < lists_[list].hits.size(); ++hit) {
        const std::optional<uint32_t> document = units_[unit].segment->FindDocument(lists_[list].hits[hit]);
        // A record that was written again is in an older segment, too, where it is no match.
        if (!document || !HasBit(units_[unit].matches.data(), *document)) continue;
        values.ForEachOf(unit, *document, [&](uint32_t value) { sharing_[list][hit] = counts[size_t{value} + 2]; });
      }
    }
  }

  void CountAlone(size_t unit, uint32_t document) {
    ++total_;
    for (DistinctFacet& facet : facets_) facet.Count(unit, document, static_cast<uint32_t>(total_));
  }

  // `ends[n]` is where the documents with the value n end.
  void CountInOrder(std::span<const uint32_t> ends, std::span<const uint32_t> documents) {
    size_t unit = 0;
    size_t at = 0;
    for (const uint32_t end : ends) {
      if (at < end) ++total_;
      for (; at < end; ++at) {
        StopIfAskedAt(at);
        if (!IsIn(unit, documents[at])) unit = UnitOf(documents[at]);
        const uint32_t document = documents[at] - units_[unit].first;
        for (DistinctFacet& facet : facets_) facet.Count(unit, document, static_cast<uint32_t>(total_));
      }
    }
  }

  bool IsIn(size_t unit, uint32_t document) const {
    return document >= units_[unit].first && document - units_[unit].first < units_[unit].segment->document_count();
  }
  size_t UnitOf(uint32_t document) const {
    return static_cast<size_t>(std::ranges::upper_bound(units_, document, {}, &Unit::first) - units_.begin()) - 1;
  }

  std::span<const DistinctList> lists_;
  std::vector<Unit> units_;
  std::vector<DistinctFacet> facets_;
  std::vector<std::vector<uint32_t>> sharing_;
  uint64_t total_ = 0;
};

}  // namespace

DistinctCounts CountDistinct(std::span<const DistinctList> lists, const DistinctFacets& facets) {
  StopNowIfAsked();
  DistinctCounter counter(lists, facets);
  std::vector<uint32_t> kinds;
  for (const DistinctList& list : lists) {
    if (list.distinct && std::ranges::find(kinds, list.distinct->kind) == kinds.end()) kinds.push_back(list.distinct->kind);
  }
  for (const uint32_t kind : kinds) counter.CountKind(kind);
  counter.CountRest();
  return counter.Take(facets);
}

}  // namespace gannet
