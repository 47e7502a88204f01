// A read-only view of one column: the values of a facet (or of @name, @created, @modified, the location)
// per document. Layout: docs/formats.md.
//
// String columns hold ordinals into a dictionary sorted by key; the key is the case-folded value that
// comparisons use, the display is the value as first written. Ordinals are in key order, so a range of
// strings is a range of ordinals. Number, date (milliseconds since 1970) and boolean (0, 1) columns hold
// doubles; NaN and infinities never occur.
//
// Thread-safety: immutable. Accessors are memory-safe for document < document count (asserted by the
// caller, not checked) once Open has validated the sizes; ordinals read from damaged bytes are clamped to the
// dictionary.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gannet {

enum class ColumnType : uint8_t { kString = 0, kNumber = 1, kBoolean = 2, kDate = 3, kLocation = 4 };

inline constexpr uint32_t kNoOrdinal = 0xffffffffu;

class Column {
 public:
  ColumnType type() const { return type_; }
  bool many() const { return many_; }

  // --- string columns
  uint32_t dictionary_size() const;
  std::string_view Key(uint32_t ordinal) const;
  std::string_view Display(uint32_t ordinal) const;
  // First ordinal whose key is >= `key`; dictionary_size() if none.
  uint32_t LowerBound(std::string_view key) const;

  // --- values per document. Single columns have zero or one.
  uint32_t ValueCount(uint32_t document) const;
  // index < ValueCount(document)
  uint32_t Ordinal(uint32_t document, uint32_t index = 0) const;
  double Number(uint32_t document, uint32_t index = 0) const;
  // Degrees; only for kLocation, where ValueCount is 0 or 1.
  struct Point {
    double latitude;
    double longitude;
  };
  Point Location(uint32_t document) const;

  // Smallest and largest number among documents [block * kColumnBlockSize, ...); false where none has a value.
  bool BlockRange(uint32_t block, double* minimum, double* maximum) const;

 private:
  ColumnType type_ = ColumnType::kNumber;
  bool many_ = false;
  // The owner of this file adds the private members that the layout needs, and inlines hot accessors.
};

}  // namespace gannet
