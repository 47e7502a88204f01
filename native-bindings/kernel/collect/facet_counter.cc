#include "facet_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "../columns/value_tally.h"
#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "facet_values.h"

namespace gannet {
namespace {

// Larger tables are not scanned completely: the entries that were counted are recorded.
constexpr uint32_t kTableScannedMax = 1 << 16;

// Numbers with raw values this wide are hashed.
template <typename Raw>
constexpr bool kIsWide = sizeof(Raw) > sizeof(uint16_t);

}  // namespace

FacetCounter::FacetCounter(const Generation& generation, const PlanFacet& facet, std::span<const std::string_view> words,
                           Table* table)
    : generation_(generation), facet_(facet), words_(words), table_(*table) {
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
  if (column_ != nullptr && table_.size() < RawEnd()) table_.resize(RawEnd());
}

// Returns the number of table entries for the raw values of the column, including "none" and what a damaged file may
// hold; 0 if the values are not counted in the table.
uint32_t FacetCounter::RawEnd() const {
  const uint32_t bytes = column_->value_bytes();
  if (bytes <= sizeof(uint16_t)) return 1u << 8 * bytes;
  return type_ == ColumnType::kString ? column_->dictionary_size() : 0;
}

void FacetCounter::Count(const Window& window) {
  if (column_ == nullptr) return;
  StopIfAsked();
  if (type_ == ColumnType::kString) {
    column_->VisitOrdinals([&](auto values) { CountRaw(values, window); });
    return;
  }
  column_->VisitNumbers([&]<typename Raw>(std::span<const Raw> values) {
    if constexpr (kIsWide<Raw>) {
      // Adding zero turns -0 into +0.
      CountEach(values, window, [&](Raw raw) { ++wide_counts_[column_->ToNumber(raw) + 0.0]; });
    } else {
      CountRaw(values, window);
    }
  });
}

template <typename Raw>
void FacetCounter::CountRaw(std::span<const Raw> values, const Window& window) {
  if constexpr (sizeof(Raw) > sizeof(uint16_t)) {
    const uint32_t end = RawEnd();
    raw_end_ = end;
    CountEach(values, window, [&](uint32_t raw) {
      if (raw < end && table_[raw]++ == 0) touched_.push_back(raw);
    });
  } else {
    uint32_t* const table = table_.data();
    if (column_->many() || values.empty()) {
      raw_end_ = RawEnd();
      return CountEach(values, window, [=](Raw raw) { ++table[raw]; });
    }
    // Words marked as used may be after the last document; they are then empty.
    const uint64_t words = window.matches.Occupied();
    const uint64_t* bits = window.matches.words;
    if (const uint64_t* present = column_->present_words(); present != nullptr) {
      ForEachWord(words, [&](uint32_t word) { with_value_[word] = bits[word] & present[window.range.base / 64 + word]; });
      bits = with_value_.data();
    }
    raw_end_ = std::max(raw_end_, 1 + TallyWords(values.data() + window.range.base, bits, words, table));
  }
}

// Calls count_one for each value of the window's matches. A document that has a value twice counts once, so that a
// facet's count is the number of documents that a filter on the value finds.
template <typename Raw, typename CountOne>
void FacetCounter::CountEach(std::span<const Raw> values, const Window& window, CountOne&& count_one) {
  if (values.empty()) return;
  if (column_->many()) {
    ForEachBit(window.matches, [&](uint32_t offset) {
      const auto [begin, end] = column_->ValueRange(window.range.base + offset);
      CountDistinct(values.subspan(begin, end - begin), count_one);
    });
    return;
  }
  const uint64_t* present = column_->present_words();
  ForEachWord(window.matches.used, [&](uint32_t word) {
    uint64_t bits = window.matches.words[word];
    // Words marked as used may be after the last document; they are then empty.
    if (bits == 0) return;
    const uint32_t begin = window.range.base + word * 64;
    if (present != nullptr) bits &= present[begin / 64];
    ForEachBit(bits, begin, [&](uint32_t document) { count_one(values[document]); });
  });
}

// Counts each value of one document once. Values ascend, except in damaged files.
template <typename Raw, typename CountOne>
void FacetCounter::CountDistinct(std::span<const Raw> values, CountOne&& count_one) const {
  const auto ascends = [](Raw a, Raw b) { return a >= b; };
  if (std::ranges::adjacent_find(values, ascends) == values.end()) {
    for (const Raw value : values) count_one(value);
    return;
  }
  std::vector<Raw> sorted(values.begin(), values.end());
  // Sorts by bytes and not by number, because a double in a damaged file may be NaN.
  std::ranges::sort(sorted, {}, [](Raw raw) { return std::bit_cast<std::array<uint8_t, sizeof(Raw)>>(raw); });
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  for (const Raw value : sorted) count_one(value);
}

// Calls visit(raw value, count) for each value that was counted, in order, and zeroes the table.
template <typename Visit>
void FacetCounter::TakeCounts(Visit&& visit) {
  const auto take = [&](uint32_t raw) {
    const uint32_t count = std::exchange(table_[raw], 0);
    if (count > 0) visit(raw, count);
  };
  if (RawEnd() <= kTableScannedMax) {
    StopIfAsked();
    // Most entries are zero, so several are tested at a time.
    constexpr uint32_t kAtOnce = 16;
    for (uint32_t begin = 0; begin < raw_end_; begin += kAtOnce) {
      const uint32_t until = std::min(begin + kAtOnce, raw_end_);
      uint32_t any = 0;
      for (uint32_t raw = begin; raw < until; ++raw) any |= table_[raw];
      for (uint32_t raw = begin; any != 0 && raw < until; ++raw) take(raw);
    }
    return;
  }
  std::ranges::sort(touched_);
  size_t step = 0;
  for (const uint32_t raw : touched_) {
    StopIfAskedAt(++step);
    take(raw);
  }
}

void FacetCounter::EndSegment() {
  if (column_ == nullptr) return;
  const Column& column = *column_;
  if (type_ == ColumnType::kString) {
    std::vector<ValueCounts<std::string_view>::Entry> counts;
    size_t looked_at = 0;
    TakeCounts([&](uint32_t ordinal, uint32_t count) {
      if (ordinal >= column.dictionary_size()) return;
      const std::string_view key = column.Key(ordinal);
      if (!words_.empty()) StopIfAskedAt(++looked_at);
      if (words_.Match(key)) counts.push_back({key, count});
    });
    strings_.Add(std::move(counts));
  } else {
    std::vector<ValueCounts<double>::Entry> counts;
    column.VisitNumbers([&]<typename Raw>(std::span<const Raw>) {
      if constexpr (!kIsWide<Raw>) {
        TakeCounts([&](uint32_t raw, uint32_t count) {
          counts.push_back({column.ToNumber(static_cast<Raw>(raw)) + 0.0, count});
        });
      }
    });
    numbers_.Add(std::move(counts));
  }
  touched_.clear();
  raw_end_ = 0;
}

void FacetCounter::AppendJson(std::string* facets, std::string* ranges) {
  if (generation_.segments.empty()) return;  // The column's name is not known.
  const auto strings = strings_.Take();
  std::vector<ValueCounts<double>::Entry> wide;
  for (const auto& [number, count] : wide_counts_) wide.push_back({number, count});
  std::ranges::sort(wide, {}, &ValueCounts<double>::Entry::key);
  numbers_.Add(std::move(wide));
  const auto numbers = numbers_.Take();
  MostFrequentValues most(facet_.values_wanted);
  for (const auto& [key, count] : strings) most.Offer({key, 0, count});
  for (const auto& [number, count] : numbers) most.Offer({{}, number, count});
  if (facets->size() > 1) facets->push_back(',');
  AppendJsonString(name_, facets);
  facets->push_back(':');
  const auto append_value = [&](const FacetValue& value, std::string* out) {
    if (type_ != ColumnType::kString) return AppendFacetNumber(type_, value.number, out);
    AppendJsonString(DisplayOf(generation_, facet_.column, value.key).value_or(value.key), out);
  };
  AppendFacetValues(most.Take(), append_value, facets);
  if (!HasRange(type_) || numbers.empty()) return;
  if (ranges->size() > 1) ranges->push_back(',');
  AppendJsonString(name_, ranges);
  ranges->push_back(':');
  AppendFacetRange(type_, numbers.front().key, numbers.back().key, ranges);
}

}  // namespace gannet
