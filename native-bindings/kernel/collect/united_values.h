// Numbers the values that a column has in several segments, of one list or of several: equal values get one number.
// Numbers are below end(), but not every number stands for a value of a match.
//
// Within a segment values are numbered already: strings by their dictionaries, numbers by their raw values. Where the
// matches have few of these, those are listed, so that a search that finds little costs little. The largest of these
// numberings is taken over as it is. The values of matches in the other segments are merged, in the order of their
// keys, and looked up in it. So a list with one large segment, which is most of them, costs little more than its small
// segments.
//
// Memory: 4 bytes per value of a segment other than the largest, 4 or 8 per listed value.
//
// Thread-safety: one thread. Looks at the flag to stop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "../columns/column.h"
#include "../window/window.h"

namespace gannet {

// A column of a segment, with one bit for each document that matches.
struct ValueSource {
  const Column* column = nullptr;  // null: no document has a value
  std::span<const uint64_t> matches = {};
};

class UnitedValues {
 public:
  // All columns must be of one type, which is not a location. If `only_single`, documents with several values count as
  // having none. What the sources point to must outlive the object.
  UnitedValues(std::span<const ValueSource> sources, bool only_single);

  uint32_t end() const { return end_; }
  ColumnType type() const { return type_; }

  // Calls visit(number) for each value of a match of the source. A value repeats only in damaged files.
  template <typename Visit>
  void ForEachOf(size_t source, uint32_t document, Visit&& visit) const {
    const Local& local = locals_[source];
    if (local.column == nullptr) return;
    const std::span<const uint32_t> numbers = numbers_[source];
    ForEachLocal(local, document, [&](uint32_t value) {
      if (numbers.empty()) return visit(value);
      if (const uint32_t number = numbers[value]; number != kNone) visit(number);
    });
  }

  std::string_view KeyOf(uint32_t number) const;
  double NumberOf(uint32_t number) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The values of one source, numbered by themselves in ascending order.
  struct Local {
    enum class Form : uint8_t { kRaw, kListedRaw, kListedNumbers };

    const Column* column = nullptr;
    uint32_t end = 0;
    Form form = Form::kRaw;
    std::vector<uint32_t> raws = {};     // kListedRaw: those that occur, ascending
    std::vector<double> numbers = {};    // kListedNumbers: likewise

    // Returns the raw value that has this number.
    uint32_t RawOf(uint32_t value) const { return form == Form::kListedRaw ? raws[value] : value; }
  };
  struct Place {
    uint32_t source;
    uint32_t value;  // number of the source
  };
  class Cursor;

  template <typename Visit>
  void ForEachLocal(const Local& local, uint32_t document, Visit&& visit) const {
    ForEachPlace(*local.column, document, [&](uint32_t index) {
      if (const uint32_t value = LocalAt(local, index); value != kNone) visit(value);
    });
  }

  // Calls visit(index among the column's values) for each value of the document.
  template <typename Visit>
  void ForEachPlace(const Column& column, uint32_t document, Visit&& visit) const {
    uint32_t begin = document;
    uint32_t end = document + 1;
    if (column.many()) {
      std::tie(begin, end) = column.ValueRange(document);
      if (only_single_ && end - begin != 1) return;
    } else if (type_ != ColumnType::kString && !column.HasNumber(document)) {
      return;
    }
    for (uint32_t i = begin; i < end; ++i) visit(i);
  }

  uint32_t LocalAt(const Local& local, uint32_t index) const {
    if (local.form == Local::Form::kListedNumbers) return Find(local.numbers, local.column->NumberAt(index) + 0.0);
    const uint32_t raw = type_ == ColumnType::kString ? local.column->RawOrdinal(index) : RawAt(*local.column, index);
    if (local.form == Local::Form::kListedRaw) return Find(local.raws, raw);
    return raw < local.end ? raw : kNone;
  }
  template <typename T>
  static uint32_t Find(const std::vector<T>& listed, T sought) {
    const auto found = std::ranges::lower_bound(listed, sought);
    return found != listed.end() && *found == sought ? static_cast<uint32_t>(found - listed.begin()) : kNone;
  }
  static uint32_t RawAt(const Column& column, uint32_t index) {
    return column.VisitNumbers([&](auto values) { return static_cast<uint32_t>(values[index]); });
  }

  Local NumberThemselves(const ValueSource& source) const;
  Local NumberRaw(const ValueSource& source) const;
  template <typename T, typename ValueAt>
  std::vector<T> ListValues(const ValueSource& source, ValueAt&& value_at) const;
  void MergeOthers(std::span<const ValueSource> sources);
  uint32_t LowerBoundInBase(uint32_t from, Place place) const;
  std::string_view LocalKey(Place place) const;
  double NumberAt(Place place) const;
  // Returns < 0 if the value of `a` comes first.
  int Compare(Place a, Place b) const;
  Place PlaceOf(uint32_t number) const;

  bool only_single_;
  ColumnType type_ = ColumnType::kString;
  std::vector<Local> locals_;                   // by source
  std::vector<std::vector<uint32_t>> numbers_;  // by source and its number; empty if both are the same
  uint32_t base_ = 0;                           // the source whose numbers are taken over
  uint32_t end_ = 0;
  std::vector<Place> others_;                   // where the numbers after those of the base come from
};

// Calls visit(document) for each match, ascending.
template <typename Visit>
void ForEachMatch(std::span<const uint64_t> matches, Visit&& visit) {
  for (size_t word = 0; word < matches.size(); ++word) {
    ForEachBit(matches[word], static_cast<uint32_t>(word * 64), visit);
  }
}

}  // namespace gannet
