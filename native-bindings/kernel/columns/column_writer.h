// Collects the values of one column, document by document, and writes its parts.
//
// Memory: 4 bytes per string value plus the dictionary, 8 bytes per number or location.
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

  // These add values of the current document. They throw Error(kInvalidArgument) for a value of another type than the
  // column's, a number that is not finite, or a location off the globe.
  void AddString(std::string_view key, std::string_view display);
  void AddNumber(double number);
  void AddLocation(double latitude, double longitude);

  // For merging: InternString numbers a string without adding it to a document; AddInterned adds it by that number.
  uint32_t InternString(std::string_view key, std::string_view display);
  void AddInterned(uint32_t number);
  void AddPoint(Column::FixedPoint point);

  // Ends the document: its values are sorted and made unique. Throws Error(kInvalidArgument) for a second value in a
  // single-valued column.
  void EndDocument();

  // Calls put(part, bytes) for every part, in order. To be called once, at the end.
  using Put = std::function<void(ColumnPart, std::span<const uint8_t>)>;
  void Write(const Put& put);

 private:
  void CheckType(bool matches) const;
  // Returns the display by number in table_; empty: the display is the key.
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
  bool has_missing_ = false;             // single-valued number columns only
  bool has_value_ = false;
  std::vector<uint32_t> offsets_;        // many-valued: first value per document
  std::vector<uint32_t> strings_;        // numbers in table_; kNoOrdinal = none
  std::vector<double> numbers_;
  std::vector<uint64_t> present_;
  std::vector<Column::FixedPoint> points_;
  StringTable table_;
  std::vector<uint8_t> displays_;        // end to end, by number in table_; an empty one is the key
  std::vector<uint32_t> display_ends_;   // by number in table_; empty if every string is its own display
};

}  // namespace gannet
