// Collects the values of one column, document by document, and lays them out.
//
// Memory: 4 bytes a string value and its dictionary, 8 bytes a number or location.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../common/string_table.h"
#include "column.h"

namespace gannet {

class ColumnWriter {
 public:
  ColumnWriter(ColumnType type, bool many) : type_(type), many_(many) {}

  // Values of the current document. Error(kInvalidArgument) for a value of another type than the column's, a
  // number that is not finite, a place outside the globe.
  void AddString(std::string_view key, std::string_view display);
  void AddNumber(double number);
  void AddLocation(double latitude, double longitude);

  // For merging: numbers the string without giving it to a document, and adds by that number.
  uint32_t InternString(std::string_view key, std::string_view display);
  void AddInterned(uint32_t number);
  void AddPoint(Column::FixedPoint point);

  // Error(kInvalidArgument) for a second value in a single column. Values of a document are sorted, each once.
  void EndDocument();

  // Calls put(part, bytes) for every part, in order. Once, at the end.
  using Put = std::function<void(ColumnPart, std::span<const uint8_t>)>;
  void Write(const Put& put);

 private:
  void CheckType(bool matches) const;
  // By number in table_; empty = the key.
  std::span<const uint8_t> Display(uint32_t number) const;
  void KeepDisplay(std::string_view display);
  void WriteStrings(const Put& put);
  void WriteDisplays(std::span<const uint32_t> sorted, const Put& put) const;
  void WriteNumbers(const Put& put);
  void WriteRanges(const Put& put);

  ColumnType type_;
  bool many_;
  uint32_t document_count_ = 0;
  size_t document_begin_ = 0;            // where the current document's values begin
  bool has_missing_ = false;             // single number columns
  bool has_value_ = false;
  std::vector<uint32_t> offsets_;        // many-valued: first value per document
  std::vector<uint32_t> strings_;        // numbers in table_; kNoOrdinal = none
  std::vector<double> numbers_;
  std::vector<uint64_t> present_;
  std::vector<Column::FixedPoint> points_;
  StringTable table_;
  std::vector<uint8_t> displays_;        // end to end, by number in table_; none = the key
  std::vector<uint32_t> display_ends_;   // by number in table_; empty where every string is its own display
};

}  // namespace gannet
