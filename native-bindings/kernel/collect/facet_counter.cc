#include "facet_counter.h"

#include <algorithm>

#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"

namespace gannet {
namespace {

// Above this many values in one document, repeats are found by sorting instead of by looking back.
constexpr uint32_t kLookBackMax = 16;

}  // namespace

FacetCounter::FacetCounter(const Generation& generation, const PlanFacet& facet)
    : generation_(generation), facet_(facet) {
  for (const SegmentView& view : generation.segments) {
    const auto& columns = view.segment->meta().columns;
    if (facet.column >= columns.size()) continue;
    name_ = columns[facet.column].name;
    type_ = columns[facet.column].type;
    if (type_ == ColumnType::kLocation) throw Error(ErrorCode::kInvalidArgument, "facet of a location");
    return;
  }
  if (!generation.segments.empty()) throw Error(ErrorCode::kInvalidArgument, "facet of an unknown column");
}

void FacetCounter::BeginSegment(uint32_t segment) {
  column_ = FindColumn(*generation_.segments[segment].segment, facet_.column);
  if (column_ != nullptr && column_->type() != type_) column_ = nullptr;
  if (column_ != nullptr && type_ == ColumnType::kString && ordinal_counts_.size() <= column_->dictionary_size()) {
    ordinal_counts_.resize(size_t{column_->dictionary_size()} + 1);  // Damaged ordinals clamp to 0 at the least.
  }
}

void FacetCounter::Count(const Window& window) {
  if (column_ == nullptr) return;
  StopIfAsked();
  if (type_ == ColumnType::kString) {
    CountOrdinals(window);
  } else {
    CountNumbers(window);
  }
}

// A document that holds a value twice counts once, so that a facet's count is what a filter on it finds.
void FacetCounter::CountOrdinals(const Window& window) {
  const Column& column = *column_;
  const auto count_one = [&](uint32_t ordinal) {
    if (ordinal_counts_[ordinal]++ == 0) touched_.push_back(ordinal);
  };
  if (!column.many()) {
    column.VisitOrdinals([&](auto values) {
      if (values.empty()) return;
      ForEachBit(window.matches, [&](uint32_t offset) {
        // Ordinals behind the dictionary: "none", and what damaged files hold.
        const uint32_t ordinal = values[window.range.base + offset];
        if (ordinal < column.dictionary_size()) count_one(ordinal);
      });
    });
    return;
  }
  ForEachBit(window.matches, [&](uint32_t offset) {
    const uint32_t document = window.range.base + offset;
    const uint32_t count = column.ValueCount(document);
    if (count == 0) return;
    if (count == 1) return count_one(column.Ordinal(document));
    if (count <= kLookBackMax) {
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t ordinal = column.Ordinal(document, i);
        bool repeated = false;
        for (uint32_t j = 0; j < i; ++j) repeated |= column.Ordinal(document, j) == ordinal;
        if (!repeated) count_one(ordinal);
      }
      return;
    }
    auto& values = values_of_document_;
    values.clear();
    for (uint32_t i = 0; i < count; ++i) values.push_back(column.Ordinal(document, i));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const uint64_t ordinal : values) count_one(static_cast<uint32_t>(ordinal));
  });
}

void FacetCounter::CountNumbers(const Window& window) {
  const Column& column = *column_;
  std::vector<double> numbers;
  ForEachBit(window.matches, [&](uint32_t offset) {
    const uint32_t document = window.range.base + offset;
    const uint32_t count = column.ValueCount(document);
    // Adding zero makes one of the two zeros.
    if (count == 1) ++number_counts_[column.Number(document) + 0.0];
    if (count <= 1) return;
    numbers.clear();
    for (uint32_t i = 0; i < count; ++i) numbers.push_back(column.Number(document, i) + 0.0);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const double number : numbers) ++number_counts_[number];
  });
}

void FacetCounter::EndSegment() {
  if (column_ == nullptr) return;
  size_t step = 0;
  for (const uint32_t ordinal : touched_) {
    StopIfAskedAt(++step);
    string_counts_[column_->Key(ordinal)] += ordinal_counts_[ordinal];
    ordinal_counts_[ordinal] = 0;
  }
  touched_.clear();
}

std::vector<FacetCounter::Value> FacetCounter::MostFrequent() const {
  const auto comes_first = [](const Value& a, const Value& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.number != b.number) return a.number < b.number;
    return a.key < b.key;
  };
  std::vector<Value> best;  // a heap, the last of them first
  size_t step = 0;
  const auto offer = [&](const Value& value) {
    StopIfAskedAt(++step);
    if (best.size() < facet_.values_wanted) {
      best.push_back(value);
      std::push_heap(best.begin(), best.end(), comes_first);
    } else if (!best.empty() && comes_first(value, best.front())) {
      std::pop_heap(best.begin(), best.end(), comes_first);
      best.back() = value;
      std::push_heap(best.begin(), best.end(), comes_first);
    }
  };
  for (const auto& [key, count] : string_counts_) offer({key, 0, count});
  for (const auto& [number, count] : number_counts_) offer({{}, number, count});
  std::sort_heap(best.begin(), best.end(), comes_first);
  return best;
}

// Of the first segment whose dictionary has the key, whatever matched, so that it does not change with the query.
std::string_view FacetCounter::DisplayOf(std::string_view key) const {
  for (const SegmentView& view : generation_.segments) {
    const Column* column = FindColumn(*view.segment, facet_.column);
    if (column == nullptr || column->type() != ColumnType::kString) continue;
    const uint32_t ordinal = column->LowerBound(key);
    if (ordinal < column->dictionary_size() && column->Key(ordinal) == key) return column->Display(ordinal);
  }
  return key;
}

void FacetCounter::AppendValue(const Value& value, std::string* out) const {
  switch (type_) {
    case ColumnType::kString:
      return AppendJsonString(DisplayOf(value.key), out);
    case ColumnType::kBoolean:
      out->append(value.number != 0 ? "true" : "false");
      return;
    case ColumnType::kDate:
      return AppendJsonDate(value.number, out);
    default:
      return AppendJsonNumber(value.number, out);
  }
}

void FacetCounter::AppendJson(std::string* facets, std::string* ranges) const {
  if (generation_.segments.empty()) return;  // Nobody knows the column's name.
  if (facets->size() > 1) facets->push_back(',');
  AppendJsonString(name_, facets);
  facets->append(":[");
  bool is_first = true;
  for (const Value& value : MostFrequent()) {
    if (!is_first) facets->push_back(',');
    is_first = false;
    facets->append("{\"value\":");
    AppendValue(value, facets);
    facets->append(",\"count\":");
    facets->append(std::to_string(value.count));
    facets->push_back('}');
  }
  facets->push_back(']');
  if ((type_ != ColumnType::kNumber && type_ != ColumnType::kDate) || number_counts_.empty()) return;
  const auto [minimum, maximum] = std::minmax_element(number_counts_.begin(), number_counts_.end(),
                                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranges->size() > 1) ranges->push_back(',');
  AppendJsonString(name_, ranges);
  ranges->append(":{\"min\":");
  AppendValue({{}, minimum->first, 0}, ranges);
  ranges->append(",\"max\":");
  AppendValue({{}, maximum->first, 0}, ranges);
  ranges->push_back('}');
}

}  // namespace gannet
