#include "facet_values.h"

#include <algorithm>
#include <utility>

#include "../common/json_writer.h"
#include "../filter/column_filter.h"

namespace gannet {
namespace {

bool ComesFirst(const FacetValue& a, const FacetValue& b) {
  if (a.count != b.count) return a.count > b.count;
  if (a.number != b.number) return a.number < b.number;
  return a.key < b.key;
}

}  // namespace

void MostFrequentValues::Insert(const FacetValue& value) {
  if (best_.size() < wanted_) {
    best_.push_back(value);
    std::push_heap(best_.begin(), best_.end(), ComesFirst);
  } else if (ComesFirst(value, best_.front())) {
    std::pop_heap(best_.begin(), best_.end(), ComesFirst);
    best_.back() = value;
    std::push_heap(best_.begin(), best_.end(), ComesFirst);
  }
}

std::vector<FacetValue> MostFrequentValues::Take() {
  std::sort_heap(best_.begin(), best_.end(), ComesFirst);
  return std::move(best_);
}

std::optional<std::string_view> DisplayOf(const Generation& generation, uint32_t column, std::string_view key) {
  for (const SegmentView& view : generation.segments) {
    const Column* values = FindColumn(*view.segment, column);
    if (values == nullptr || values->type() != ColumnType::kString) continue;
    const uint32_t ordinal = values->LowerBound(key);
    if (ordinal < values->dictionary_size() && values->Key(ordinal) == key) return values->Display(ordinal);
  }
  return std::nullopt;
}

void AppendFacetNumber(ColumnType type, double number, std::string* out) {
  switch (type) {
    case ColumnType::kBoolean:
      out->append(number != 0 ? "true" : "false");
      return;
    case ColumnType::kDate:
      return AppendJsonDate(number, out);
    default:
      return AppendJsonNumber(number, out);
  }
}

void AppendFacetRange(ColumnType type, double least, double greatest, std::string* out) {
  out->append("{\"min\":");
  AppendFacetNumber(type, least, out);
  out->append(",\"max\":");
  AppendFacetNumber(type, greatest, out);
  out->push_back('}');
}

}  // namespace gannet
