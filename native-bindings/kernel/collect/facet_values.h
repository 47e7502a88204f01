// The counted values of a facet as an answer has them: the most frequent ones, as JSON.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../columns/column.h"
#include "../common/stop.h"
#include "../generation/generation.h"

namespace gannet {

struct FacetValue {
  std::string_view key;  // strings
  double number = 0;     // others
  uint64_t count = 0;
};

// Keeps the `wanted` most frequent of the values offered; equally frequent ones are in the order of their values.
class MostFrequentValues {
 public:
  explicit MostFrequentValues(uint32_t wanted) : wanted_(wanted) {}
  void Offer(const FacetValue& value) {
    StopIfAskedAt(++offered_);
    const bool is_full = best_.size() >= wanted_;
    if (!is_full || (!best_.empty() && value.count >= best_.front().count)) Insert(value);
  }
  // Returns them, most frequent first. To be called once, at the end.
  std::vector<FacetValue> Take();

 private:
  void Insert(const FacetValue& value);

  uint32_t wanted_;
  size_t offered_ = 0;
  std::vector<FacetValue> best_;  // a heap, the last of them first
};

// Returns the display of the first segment whose dictionary has the key, whatever matched, so that it does not change
// with the query. Nothing if no segment has the key.
std::optional<std::string_view> DisplayOf(const Generation& generation, uint32_t column, std::string_view key);

// Appends a number as a value of a facet of the type, which is not kString.
void AppendFacetNumber(ColumnType type, double number, std::string* out);

// Appends `[{"value":..,"count":..},..]`. `append_value(value, out)` appends what a value is shown as.
template <typename AppendValue>
void AppendFacetValues(const std::vector<FacetValue>& values, AppendValue&& append_value, std::string* out) {
  out->push_back('[');
  bool is_first = true;
  for (const FacetValue& value : values) {
    if (!is_first) out->push_back(',');
    is_first = false;
    out->append("{\"value\":");
    append_value(value, out);
    out->append(",\"count\":");
    out->append(std::to_string(value.count));
    out->push_back('}');
  }
  out->push_back(']');
}

// True if answers have the least and the greatest value of facets of the type.
inline bool HasRange(ColumnType type) { return type == ColumnType::kNumber || type == ColumnType::kDate; }

// Appends `{"min":..,"max":..}`.
void AppendFacetRange(ColumnType type, double least, double greatest, std::string* out);

}  // namespace gannet
