// A read-only view of one column: the values of a facet (or of @name, @created, @modified, the location) per document.
// docs/formats.md describes the layout.
//
// String columns hold ordinals into a dictionary sorted by key. The key is the case-folded value that comparisons use,
// the display the value as first written. Ordinals are in key order, so a range of strings is a range of ordinals.
// Number, date (milliseconds since 1970) and boolean (0, 1) columns hold doubles; NaN and infinities never occur. The
// values of a document in a many-valued column are distinct and ascend.
//
// Thread-safety: immutable. Accessors are memory-safe for document < document count (the caller's duty, not checked)
// once Parse has validated the sizes; ordinals read from damaged bytes are clamped to the dictionary.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace gannet {

enum class ColumnType : uint8_t { kString = 0, kNumber = 1, kBoolean = 2, kDate = 3, kLocation = 4 };

inline constexpr uint32_t kNoOrdinal = 0xffffffffu;

// The values of a column in the file: 'C' u16be column, u8 part. A part that would be empty is left out.
enum class ColumnPart : uint8_t {
  kHeader = 0,
  kValues = 1,
  kOffsets = 2,         // many-valued: u32 per document and one more
  // if some document of a single-valued number column has no value: one bit per document, in 64-bit words
  kPresent = 3,
  kRanges = 4,          // numbers: f64 minimum and maximum per kColumnBlockSize documents
  kKeyOffsets = 5,      // strings: u32 per ordinal and one more, into kKeys
  kKeys = 6,
  // as kKeyOffsets, into kDisplays; an empty display means the key; both are left out if all displays are empty
  kDisplayOffsets = 7,
  kDisplays = 8,
};
inline constexpr size_t kColumnPartCount = 9;

class Column {
 public:
  // Makes an empty column: no document has a value.
  Column() = default;
  // `parts` are by ColumnPart; each begins at an address divisible by 8 and is kept, not copied. Throws Error(kDamaged)
  // if sizes do not fit together or the header has another type than expected.
  static Column Parse(ColumnType type, bool many, uint32_t document_count,
                      const std::array<std::span<const uint8_t>, kColumnPartCount>& parts);

  ColumnType type() const { return type_; }
  bool many() const { return many_; }

  // --- string columns
  uint32_t dictionary_size() const { return dictionary_size_; }
  std::string_view Key(uint32_t ordinal) const { return Text(keys_, ordinal); }
  std::string_view Display(uint32_t ordinal) const {
    const std::string_view display = Text(displays_, ordinal);
    return display.empty() ? Key(ordinal) : display;
  }
  // Returns the first ordinal whose key is >= `key`; dictionary_size() if there is none.
  uint32_t LowerBound(std::string_view key) const;

  // --- values per document. Single-valued columns have zero or one.
  uint32_t ValueCount(uint32_t document) const {
    if (many_) {
      const auto [begin, end] = ValueRange(document);
      return end - begin;
    }
    if (type_ == ColumnType::kString) return RawOrdinal(document) != missing_ordinal() ? 1 : 0;
    if (type_ == ColumnType::kLocation) return points()[document].latitude != kNoLatitude ? 1 : 0;
    return HasNumber(document) ? 1 : 0;
  }
  // Requires index < ValueCount(document).
  uint32_t Ordinal(uint32_t document, uint32_t index = 0) const {
    const uint32_t ordinal = RawOrdinal((many_ ? ValueRange(document).first : document) + index);
    return ordinal < dictionary_size_ ? ordinal : dictionary_size_ - (dictionary_size_ != 0 ? 1 : 0);
  }
  double Number(uint32_t document, uint32_t index = 0) const {
    return NumberAt((many_ ? ValueRange(document).first : document) + index);
  }
  // Degrees; only for kLocation, where ValueCount is 0 or 1.
  struct Point {
    double latitude;
    double longitude;
  };
  Point Location(uint32_t document) const {
    const FixedPoint& point = points()[document];
    // The division gives the double nearest to the decimal; a product with 1e-7 does not.
    return {point.latitude / 1e7, point.longitude / 1e7};
  }

  // Sets the least and greatest number among documents [block * kColumnBlockSize, ...); returns false if none has a
  // value.
  bool BlockRange(uint32_t block, double* minimum, double* maximum) const;

  // --- raw access, for loops over many documents. Value i of a single-valued column is that of document i; the values
  // of document d in a many-valued column are ValueRange(d). Raw values of a damaged file may be anything: clamp
  // ordinals to dictionary_size() before indexing with them (or size the table for all values of the width), and check
  // doubles for NaN before sorting by them. NumberAt and Ordinal do so themselves.

  // Returns [first, end) of a document's values in a many-valued column; always within the values.
  std::pair<uint32_t, uint32_t> ValueRange(uint32_t document) const {
    const uint32_t begin = std::min(offsets_[document], value_count_);
    return {begin, std::clamp(offsets_[document + 1], begin, value_count_)};
  }
  // Indexes [0, value_count()) are valid: the document count for a single-valued column.
  uint32_t value_count() const { return value_count_; }
  // 1, 2 or 4 for ordinals; 1, 2, 4 (unsigned integers) or 8 (double) for numbers.
  uint32_t value_bytes() const { return value_bytes_; }
  // The ordinal that means "none" in a single-valued string column: all ones in value_bytes() bytes.
  uint32_t missing_ordinal() const { return missing_ordinal_; }

  // Calls visitor(std::span<const uint8_t | uint16_t | uint32_t>) with the ordinals. String columns only.
  template <typename Visitor>
  decltype(auto) VisitOrdinals(Visitor&& visitor) const {
    if (value_bytes_ == 1) return visitor(Values<uint8_t>());
    if (value_bytes_ == 2) return visitor(Values<uint16_t>());
    return visitor(Values<uint32_t>());
  }
  // Calls visitor(std::span<const uint8_t | uint16_t | uint32_t | double>). ToNumber converts a raw value and preserves
  // the order, so a test of numbers can be made a test of raw values.
  template <typename Visitor>
  decltype(auto) VisitNumbers(Visitor&& visitor) const {
    if (value_bytes_ == 1) return visitor(Values<uint8_t>());
    if (value_bytes_ == 2) return visitor(Values<uint16_t>());
    if (value_bytes_ == 4) return visitor(Values<uint32_t>());
    return visitor(Values<double>());
  }
  template <typename Raw>
  double ToNumber(Raw raw) const {
    if constexpr (std::is_same_v<Raw, double>) {
      return std::isfinite(raw) ? raw : 0;
    } else {
      return (base_ + static_cast<double>(raw) * step_) / divisor_;
    }
  }
  double NumberAt(uint32_t index) const {
    if (value_bytes_ == 1) return ToNumber(values_[index]);
    if (value_bytes_ == 2) return ToNumber(Values<uint16_t>()[index]);
    if (value_bytes_ == 4) return ToNumber(Values<uint32_t>()[index]);
    return ToNumber(Values<double>()[index]);
  }
  uint32_t RawOrdinal(uint32_t index) const {
    if (value_bytes_ == 1) return values_[index];
    if (value_bytes_ == 2) return Values<uint16_t>()[index];
    return Values<uint32_t>()[index];
  }
  // Returns true if a document of a single-valued number column has a value; documents without one have 0.
  bool HasNumber(uint32_t document) const {
    return present_ == nullptr ? all_present_ : (present_[document / 64] >> (document % 64) & 1) != 0;
  }
  // One bit per document of a single-valued number column. Null if every document has a value or, if value_count() is
  // 0, none has.
  const uint64_t* present_words() const { return present_; }

  // In units of 1e-7 degrees; latitude kNoLatitude means no location.
  struct FixedPoint {
    int32_t latitude;
    int32_t longitude;
  };
  static constexpr int32_t kNoLatitude = std::numeric_limits<int32_t>::min();
  std::span<const FixedPoint> points() const {
    return {reinterpret_cast<const FixedPoint*>(values_), value_count_};
  }

 private:
  struct Dictionary {
    const uint32_t* offsets = nullptr;
    const char* bytes = nullptr;
    uint32_t size = 0;  // of bytes
  };

  template <typename T>
  std::span<const T> Values() const {
    return {reinterpret_cast<const T*>(values_), value_count_};
  }
  std::string_view Text(const Dictionary& dictionary, uint32_t ordinal) const {
    if (ordinal >= dictionary_size_ || dictionary.offsets == nullptr) return {};
    const uint32_t begin = std::min(dictionary.offsets[ordinal], dictionary.size);
    return {dictionary.bytes + begin, std::clamp(dictionary.offsets[ordinal + 1], begin, dictionary.size) - begin};
  }
  static Dictionary ParseDictionary(uint32_t count, std::span<const uint8_t> offsets, std::span<const uint8_t> bytes);

  ColumnType type_ = ColumnType::kNumber;
  bool many_ = false;
  bool all_present_ = false;
  uint8_t value_bytes_ = 1;
  uint32_t value_count_ = 0;
  uint32_t missing_ordinal_ = kNoOrdinal;
  uint32_t dictionary_size_ = 0;
  const uint8_t* values_ = nullptr;
  const uint32_t* offsets_ = nullptr;
  const uint64_t* present_ = nullptr;
  double base_ = 0;
  double step_ = 1;
  double divisor_ = 1;
  Dictionary keys_;
  Dictionary displays_;
  std::span<const double> ranges_;  // minimum, maximum per block
};

}  // namespace gannet
