// Counts the values of a column over all matches of a search.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "../window/window.h"

namespace gannet {

class FacetCounter {
 public:
  // Error(kInvalidArgument) where the generation's segments do not have the column or it is a location.
  FacetCounter(const Generation& generation, const PlanFacet& facet);

  void BeginSegment(uint32_t segment);
  void Count(const Window& window);
  void EndSegment();

  // Appends `"name":[...]` and, for numbers and dates with a value, `"name":{"min":..,"max":..}`, each with a comma
  // before it where the text is more than its opening brace.
  void AppendJson(std::string* facets, std::string* ranges) const;

 private:
  struct Value {
    std::string_view key;  // strings
    double number = 0;     // others
    uint64_t count = 0;
  };

  void CountOrdinals(const Window& window);
  void CountNumbers(const Window& window);
  std::vector<Value> MostFrequent() const;
  std::string_view DisplayOf(std::string_view key) const;
  void AppendValue(const Value& value, std::string* out) const;

  const Generation& generation_;
  PlanFacet facet_;
  std::string name_;
  ColumnType type_ = ColumnType::kString;
  const Column* column_ = nullptr;  // of the segment at hand; null if it has none
  // Counts by ordinal, zero but for those in touched_; kept from segment to segment so that clearing costs what was
  // counted and not the dictionary.
  std::vector<uint32_t> ordinal_counts_;
  std::vector<uint32_t> touched_;
  std::vector<uint64_t> values_of_document_;
  std::unordered_map<std::string_view, uint64_t> string_counts_;
  std::unordered_map<double, uint64_t> number_counts_;
};

}  // namespace gannet
