// Counts the values of a column over all matches of a search.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../window/window.h"
#include "value_counts.h"
#include "value_words.h"

namespace gannet {

class FacetCounter {
 public:
  // Counts by raw value. All entries are zero before BeginSegment and after EndSegment; the table grows as needed.
  using Table = std::vector<uint32_t>;

  // Throws Error(kInvalidArgument) if the generation's segments do not have the column or it is a location. A facet of
  // strings returns only values that match `words` (value_words.h); the texts they point to must outlive the object.
  // `table` must outlive the object and be used by nothing else until then.
  FacetCounter(const Generation& generation, const PlanFacet& facet, std::span<const std::string_view> words,
               Table* table);

  void BeginSegment(uint32_t segment);
  void Count(const Window& window);
  void EndSegment();

  // Appends `"name":[...]` and, for numbers and dates with a value, `"name":{"min":..,"max":..}`, each preceded by a
  // comma if the text is more than its opening brace. To be called once, at the end.
  void AppendJson(std::string* facets, std::string* ranges);

 private:
  template <typename Raw, typename CountOne>
  void CountEach(std::span<const Raw> values, const Window& window, CountOne&& count_one);
  template <typename Raw, typename CountOne>
  void CountDistinct(std::span<const Raw> values, CountOne&& count_one) const;
  template <typename Raw>
  void CountRaw(std::span<const Raw> values, const Window& window);
  uint32_t RawEnd() const;
  template <typename Visit>
  void TakeCounts(Visit&& visit);

  const Generation& generation_;
  PlanFacet facet_;
  ValueWords words_;
  std::string name_;
  ColumnType type_ = ColumnType::kString;
  const Column* column_ = nullptr;  // of the current segment; null if it has none
  Table& table_;
  uint32_t raw_end_ = 0;  // end of the current segment's part of the table; what follows is zero
  std::array<uint64_t, kWindowWords> with_value_;  // the matches of a window that have a value
  std::vector<uint32_t> touched_;  // for a large table: its non-zero entries
  std::unordered_map<double, uint64_t> wide_counts_;  // for numbers that have too many raw values for a table
  ValueCounts<std::string_view> strings_;
  ValueCounts<double> numbers_;
};

}  // namespace gannet
