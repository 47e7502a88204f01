#include "distinct_column.h"

#include <bit>
#include <functional>

#include "../common/error.h"
#include "../filter/column_filter.h"

namespace gannet {

size_t DistinctValueHash::operator()(const DistinctValue& value) const {
  return value.key.empty() ? std::hash<double>()(value.number) : std::hash<std::string_view>()(value.key);
}

uint32_t* RecentValues::Find(const DistinctValue& value) {
  constexpr uint32_t kBits = 12;
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;  // multiplicative hashing (Knuth): 2^64 / golden ratio
  const bool is_number = value.key.data() == nullptr;
  // An empty key begins where the next one does.
  if (!is_number && value.key.empty()) return nullptr;
  const uint64_t bits = is_number ? std::bit_cast<uint64_t>(value.number) : reinterpret_cast<uintptr_t>(value.key.data());
  if (entries_.empty()) entries_.resize(size_t{1} << kBits);
  Entry& entry = entries_[(bits * kSpread) >> (64 - kBits)];
  if (entry.value != bits || entry.epoch != epoch_) entry = {bits, epoch_, kNone};
  return &entry.hit;
}

DistinctColumn::DistinctColumn(const Generation& generation, uint32_t column) : generation_(generation), column_(column) {
  for (const SegmentView& view : generation.segments) {
    const auto& columns = view.segment->meta().columns;
    if (column >= columns.size()) continue;
    if (columns[column].many || columns[column].type == ColumnType::kLocation) {
      throw Error(ErrorCode::kInvalidArgument, "hits are distinct by a column with one comparable value");
    }
    return;
  }
  if (!generation.segments.empty()) throw Error(ErrorCode::kInvalidArgument, "hits are distinct by an unknown column");
}

std::optional<DistinctValue> DistinctColumn::ValueOf(uint32_t segment, uint32_t document) const {
  const Column* column = FindColumn(*generation_.segments[segment].segment, column_);
  if (column == nullptr || column->value_count() == 0 || column->ValueCount(document) != 1) return std::nullopt;
  if (column->type() == ColumnType::kString) return DistinctValue{column->Key(column->Ordinal(document))};
  // Adding zero turns -0 into +0.
  return DistinctValue{{}, column->Number(document) + 0.0};
}

}  // namespace gannet
