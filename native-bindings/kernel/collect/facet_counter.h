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

namespace gannet {

class FacetCounter {
 public:
  // Counts by raw value: all zero, and so again after EndSegment. Room for it is made where it is too small.
  using Table = std::vector<uint32_t>;

  // Error(kInvalidArgument) where the generation's segments do not have the column or it is a location. `table` outlives the object, and is
  // nobody else's until then.
  FacetCounter(const Generation& generation, const PlanFacet& facet, Table* table);

  void BeginSegment(uint32_t segment);
  void Count(const Window& window);
  void EndSegment();

  // Appends `"name":[...]` and, for numbers and dates with a value, `"name":{"min":..,"max":..}`, each with a comma
  // before it where the text is more than its opening brace. Once, at the end.
  void AppendJson(std::string* facets, std::string* ranges);

 private:
  struct Value {
    std::string_view key;  // strings
    double number = 0;     // others
    uint64_t count = 0;
  };

  template <typename Raw, typename CountOne>
  void CountEach(std::span<const Raw> values, const Window& window, CountOne&& count_one);
  template <typename Raw, typename CountOne>
  void CountDistinct(std::span<const Raw> values, CountOne&& count_one) const;
  template <typename Raw>
  void CountRaw(std::span<const Raw> values, const Window& window);
  uint32_t RawEnd() const;
  template <typename Visit>
  void TakeCounts(Visit&& visit);

  std::vector<Value> MostFrequent(const std::vector<ValueCounts<std::string_view>::Entry>& strings,
                                  const std::vector<ValueCounts<double>::Entry>& numbers) const;
  std::string_view DisplayOf(std::string_view key) const;
  void AppendValue(const Value& value, std::string* out) const;

  const Generation& generation_;
  PlanFacet facet_;
  std::string name_;
  ColumnType type_ = ColumnType::kString;
  const Column* column_ = nullptr;  // of the segment at hand; null if it has none
  Table& table_;
  uint32_t raw_end_ = 0;  // in the table, of the segment at hand, what is behind it is zero
  std::array<uint64_t, kWindowWords> with_value_;  // of a window's matches, those that have a value
  std::vector<uint32_t> touched_;  // of the table, where it is large, what is not zero
  std::unordered_map<double, uint64_t> wide_counts_;  // of numbers that have too many raw values for a table
  ValueCounts<std::string_view> strings_;
  ValueCounts<double> numbers_;
};

}  // namespace gannet
