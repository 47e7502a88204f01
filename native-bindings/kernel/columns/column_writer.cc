#include "column_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../common/bytes.h"
#include "../format.h"
#include "column_header.h"

namespace gannet {
namespace {

constexpr uint64_t kValuesMax = 0xffffffff / 8;  // of one column, because their bytes are one LMDB value

constexpr uint64_t kDictionaryBytesMax = 0xe0000000;

[[noreturn]] void ThrowDictionaryLimit() {
  throw Error(ErrorCode::kLimit, "the values of a column exceed 3.5 GiB");
}

[[noreturn]] void Invalid(const char* what) {
  throw Error(ErrorCode::kInvalidArgument, std::string("column: ") + what);
}

template <typename T>
std::span<const uint8_t> BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

// Narrows values to 1, 2 or 4 bytes.
std::vector<uint8_t> Narrow(const std::vector<uint32_t>& values, unsigned bytes) {
  std::vector<uint8_t> out(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(out.data() + i * bytes, &values[i], bytes);
  return out;
}

// How the numbers of a column can be stored as integers without loss.
struct IntegerScale {
  bool possible = false;
  double base = 0;
  double step = 1;
  double divisor = 1;
  uint8_t bytes = 8;
};

// Returns the scale with which every number is an integer over `divisor`, if there is one. Placeholders for missing
// numbers are ignored.
IntegerScale TryScale(const std::vector<double>& numbers, const std::function<bool(size_t)>& has, double divisor) {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!has(i)) continue;
    const double scaled = std::round(numbers[i] * divisor);
    // -0 would be read back as 0, which is another double.
    if (!(std::abs(scaled) <= kExactIntegerMax) || scaled / divisor != numbers[i] ||
        (numbers[i] == 0 && std::signbit(numbers[i]))) {
      return {};
    }
    minimum = std::min(minimum, scaled);
    maximum = std::max(maximum, scaled);
  }
  if (minimum > maximum) return {};
  const int64_t base = static_cast<int64_t>(minimum);
  const uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(maximum) - base);
  // A greater step, or a product with it, may not be exact as a double.
  if (range > static_cast<uint64_t>(kExactIntegerMax)) return {};
  uint64_t step = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!has(i)) continue;
    step = std::gcd(step, static_cast<uint64_t>(static_cast<int64_t>(std::round(numbers[i] * divisor)) - base));
    if (step == 1) break;
  }
  if (step == 0) step = 1;
  const uint64_t highest = range / step;
  if (highest > 0xffffffff) return {};
  const uint8_t bytes = highest <= 0xff ? 1 : highest <= 0xffff ? 2 : 4;
  return {true, minimum, static_cast<double>(step), divisor, bytes};
}

}  // namespace

void ColumnWriter::CheckType(bool matches) const {
  if (!matches) Invalid("a value of another type");
}

uint32_t ColumnWriter::InternString(std::string_view key, std::string_view display) {
  CheckType(type_ == ColumnType::kString);
  bool added;
  const uint32_t number = table_.Intern(key, &added);
  if (added) KeepDisplay(display == key ? std::string_view() : display);
  return number;
}

void ColumnWriter::KeepDisplay(std::string_view display) {
  // A column of names has as many strings as documents, so memory per string is avoided if possible.
  if (display.empty() && display_ends_.empty()) return;
  if (displays_.size() + display.size() > kDictionaryBytesMax) ThrowDictionaryLimit();
  if (display_ends_.empty()) display_ends_.resize(table_.size() - 1, 0);
  AppendBytes(&displays_, AsBytes(display));
  display_ends_.push_back(static_cast<uint32_t>(displays_.size()));
}

std::span<const uint8_t> ColumnWriter::Display(uint32_t number) const {
  const uint32_t begin = number == 0 ? 0 : display_ends_[number - 1];
  return std::span(displays_).subspan(begin, display_ends_[number] - begin);
}

void ColumnWriter::AddString(std::string_view key, std::string_view display) {
  AddInterned(InternString(key, display));
}

void ColumnWriter::AddInterned(uint32_t number) { strings_.push_back(number); }

void ColumnWriter::AddNumber(double number) {
  CheckType(type_ != ColumnType::kString && type_ != ColumnType::kLocation);
  if (!std::isfinite(number)) Invalid("a number that is not finite");
  if (type_ == ColumnType::kBoolean && number != 0 && number != 1) Invalid("a boolean that is neither 0 nor 1");
  numbers_.push_back(number);
}

void ColumnWriter::AddLocation(double latitude, double longitude) {
  if (!(std::abs(latitude) <= 90) || !(std::abs(longitude) <= 180)) Invalid("a place outside the globe");
  AddPoint({static_cast<int32_t>(std::lround(latitude * 1e7)), static_cast<int32_t>(std::lround(longitude * 1e7))});
}

void ColumnWriter::AddPoint(Column::FixedPoint point) {
  CheckType(type_ == ColumnType::kLocation);
  points_.push_back(point);
}

void ColumnWriter::EndDocument() {
  const auto finish = [&](auto& values, auto missing) {
    if (many_) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(document_begin_);
      std::sort(begin, values.end());
      values.erase(std::unique(begin, values.end()), values.end());
      offsets_.push_back(static_cast<uint32_t>(document_begin_));
      if (values.size() > kValuesMax) throw Error(ErrorCode::kLimit, "a column has more than 2^29 values");
    } else {
      if (values.size() > document_begin_ + 1) Invalid("a second value in a single-valued column");
      if (values.size() == document_begin_) values.push_back(missing);
    }
    document_begin_ = values.size();
  };
  if (type_ == ColumnType::kString) {
    finish(strings_, kNoOrdinal);
  } else if (type_ == ColumnType::kLocation) {
    if (points_.size() > document_begin_ + 1) Invalid("a second location");
    if (points_.size() == document_begin_) points_.push_back({Column::kNoLatitude, 0});
    document_begin_ = points_.size();
  } else {
    const bool present = numbers_.size() > document_begin_;
    has_missing_ = has_missing_ || !present;
    has_value_ = has_value_ || present;
    if (!many_) {
      if (document_count_ % 64 == 0) present_.push_back(0);
      if (present) present_.back() |= uint64_t{1} << (document_count_ % 64);
    }
    finish(numbers_, 0.0);
  }
  ++document_count_;
}

void ColumnWriter::Write(const Put& put) {
  if (many_) offsets_.push_back(static_cast<uint32_t>(document_begin_));
  if (type_ == ColumnType::kString) {
    WriteStrings(put);
  } else if (type_ == ColumnType::kLocation) {
    ColumnHeader header{};
    header.type = static_cast<uint8_t>(type_);
    header.value_bytes = sizeof(Column::FixedPoint);
    header.value_count = document_count_;
    header.step = header.divisor = 1;
    put(ColumnPart::kHeader, {reinterpret_cast<const uint8_t*>(&header), sizeof header});
    put(ColumnPart::kValues, BytesOf(points_));
  } else {
    WriteNumbers(put);
  }
}

void ColumnWriter::WriteStrings(const Put& put) {
  const std::vector<uint32_t> sorted = table_.Sorted();
  std::vector<uint32_t> ordinals(sorted.size());
  std::vector<uint32_t> key_offsets{0};
  std::vector<uint8_t> keys;
  key_offsets.reserve(sorted.size() + 1);
  for (uint32_t ordinal = 0; ordinal < sorted.size(); ++ordinal) {
    ordinals[sorted[ordinal]] = ordinal;
    AppendBytes(&keys, AsBytes(table_[sorted[ordinal]]));
    if (keys.size() > kDictionaryBytesMax) ThrowDictionaryLimit();
    key_offsets.push_back(static_cast<uint32_t>(keys.size()));
  }
  for (uint32_t& value : strings_) {
    if (value != kNoOrdinal) value = ordinals[value];
  }
  if (many_) {
    // Values were sorted by number so far; the order of ordinals differs.
    for (uint32_t document = 0; document < document_count_; ++document) {
      std::sort(strings_.begin() + offsets_[document], strings_.begin() + offsets_[document + 1]);
    }
  }
  ColumnHeader header{};
  header.type = static_cast<uint8_t>(type_);
  header.many = many_ ? 1 : 0;
  // All ones mean "none", so the dictionary must be smaller than the number of values of the width.
  header.value_bytes = sorted.size() <= 0xff ? 1 : sorted.size() <= 0xffff ? 2 : 4;
  header.value_count = static_cast<uint32_t>(strings_.size());
  header.dictionary_size = static_cast<uint32_t>(sorted.size());
  header.step = header.divisor = 1;
  put(ColumnPart::kHeader, {reinterpret_cast<const uint8_t*>(&header), sizeof header});
  if (!strings_.empty()) put(ColumnPart::kValues, Narrow(strings_, header.value_bytes));
  if (many_) put(ColumnPart::kOffsets, BytesOf(offsets_));
  if (sorted.empty()) return;
  put(ColumnPart::kKeyOffsets, BytesOf(key_offsets));
  if (!keys.empty()) put(ColumnPart::kKeys, keys);
  if (!display_ends_.empty()) WriteDisplays(sorted, put);
}

void ColumnWriter::WriteDisplays(std::span<const uint32_t> sorted, const Put& put) const {
  std::vector<uint32_t> offsets{0};
  std::vector<uint8_t> displays;
  offsets.reserve(sorted.size() + 1);
  displays.reserve(displays_.size());
  for (const uint32_t number : sorted) {
    AppendBytes(&displays, Display(number));
    offsets.push_back(static_cast<uint32_t>(displays.size()));
  }
  put(ColumnPart::kDisplayOffsets, BytesOf(offsets));
  put(ColumnPart::kDisplays, displays);
}

void ColumnWriter::WriteNumbers(const Put& put) {
  const auto has = [&](size_t i) { return many_ || (present_[i / 64] >> (i % 64) & 1) != 0; };
  IntegerScale scale;
  for (const double divisor : {1.0, 100.0, 1000.0}) {
    scale = TryScale(numbers_, has, divisor);
    if (scale.possible) break;
  }
  ColumnHeader header{};
  header.type = static_cast<uint8_t>(type_);
  header.many = many_ ? 1 : 0;
  header.value_bytes = scale.bytes;
  header.value_count = has_value_ ? static_cast<uint32_t>(numbers_.size()) : 0;
  header.base = scale.base;
  header.step = scale.step;
  header.divisor = scale.divisor;
  put(ColumnPart::kHeader, {reinterpret_cast<const uint8_t*>(&header), sizeof header});
  if (has_value_) {
    if (scale.possible) {
      std::vector<uint32_t> integers(numbers_.size());
      const int64_t base = static_cast<int64_t>(scale.base);
      const uint64_t step = static_cast<uint64_t>(scale.step);
      for (size_t i = 0; i < numbers_.size(); ++i) {
        if (!has(i)) continue;
        const int64_t scaled = static_cast<int64_t>(std::round(numbers_[i] * scale.divisor));
        integers[i] = static_cast<uint32_t>(static_cast<uint64_t>(scaled - base) / step);
      }
      put(ColumnPart::kValues, Narrow(integers, scale.bytes));
    } else {
      put(ColumnPart::kValues, BytesOf(numbers_));
    }
  }
  if (many_) put(ColumnPart::kOffsets, BytesOf(offsets_));
  if (!has_value_) return;
  if (!many_ && has_missing_) put(ColumnPart::kPresent, BytesOf(present_));
  WriteRanges(put);
}

void ColumnWriter::WriteRanges(const Put& put) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> ranges;
  for (uint32_t begin = 0; begin < document_count_; begin += kColumnBlockSize) {
    double minimum = kInfinity;
    double maximum = -kInfinity;
    const uint32_t end = std::min(begin + kColumnBlockSize, document_count_);
    const size_t first = many_ ? offsets_[begin] : begin;
    const size_t last = many_ ? offsets_[end] : end;
    for (size_t i = first; i < last; ++i) {
      if (!many_ && (present_[i / 64] >> (i % 64) & 1) == 0) continue;
      minimum = std::min(minimum, numbers_[i]);
      maximum = std::max(maximum, numbers_[i]);
    }
    ranges.push_back(minimum);
    ranges.push_back(maximum);
  }
  put(ColumnPart::kRanges, BytesOf(ranges));
}

}  // namespace gannet
