#include "column.h"

#include "../common/bytes.h"
#include "../format.h"
#include "column_header.h"

namespace gannet {
namespace {

[[noreturn]] void Damaged(const char* what) { throw Error(ErrorCode::kDamaged, std::string("column: ") + what); }

const uint8_t* Expect(std::span<const uint8_t> part, uint64_t bytes, const char* what) {
  if (part.size() != bytes) Damaged(what);
  return part.data();
}

}  // namespace

Column::Dictionary Column::ParseDictionary(uint32_t count, std::span<const uint8_t> offsets,
                                           std::span<const uint8_t> bytes) {
  Dictionary dictionary;
  dictionary.offsets = reinterpret_cast<const uint32_t*>(Expect(offsets, 4 * (uint64_t{count} + 1), "dictionary"));
  dictionary.bytes = reinterpret_cast<const char*>(bytes.data());
  if (bytes.size() > 0xffffffffu) Damaged("dictionary");
  dictionary.size = static_cast<uint32_t>(bytes.size());
  return dictionary;
}

Column Column::Parse(ColumnType type, bool many, uint32_t document_count,
                     const std::array<std::span<const uint8_t>, kColumnPartCount>& parts) {
  const auto part = [&](ColumnPart which) { return parts[static_cast<size_t>(which)]; };
  ByteReader reader(part(ColumnPart::kHeader));
  const ColumnHeader header = reader.Integer<ColumnHeader>();
  if (header.type != static_cast<uint8_t>(type) || header.many != (many ? 1 : 0)) Damaged("type");

  Column column;
  column.type_ = type;
  column.many_ = many;
  column.value_bytes_ = header.value_bytes;
  column.value_count_ = header.value_count;
  if (!many && header.value_count != document_count && header.value_count != 0) Damaged("value count");
  const bool numeric = type != ColumnType::kString && type != ColumnType::kLocation;
  switch (header.value_bytes) {
    case 1: case 2: case 4: if (type == ColumnType::kLocation) Damaged("width"); break;
    case 8: if (type == ColumnType::kString) Damaged("width"); break;
    default: Damaged("width");
  }
  column.values_ = Expect(part(ColumnPart::kValues), uint64_t{header.value_count} * header.value_bytes, "values");

  if (many) {
    if (type == ColumnType::kLocation) Damaged("type");
    const uint8_t* offsets = Expect(part(ColumnPart::kOffsets), 4 * (uint64_t{document_count} + 1), "offsets");
    column.offsets_ = reinterpret_cast<const uint32_t*>(offsets);
  } else if (!numeric && header.value_count != document_count) {
    Damaged("value count");
  }

  if (type == ColumnType::kString) {
    column.missing_ordinal_ = header.value_bytes == 4 ? kNoOrdinal : (1u << (8 * header.value_bytes)) - 1;
    column.dictionary_size_ = header.dictionary_size;
    if (header.dictionary_size == 0 && many && header.value_count != 0) Damaged("dictionary");
    if (header.dictionary_size > 0) {
      column.keys_ = ParseDictionary(header.dictionary_size, part(ColumnPart::kKeyOffsets), part(ColumnPart::kKeys));
      if (!part(ColumnPart::kDisplayOffsets).empty()) {
        column.displays_ =
            ParseDictionary(header.dictionary_size, part(ColumnPart::kDisplayOffsets), part(ColumnPart::kDisplays));
      }
    }
  }
  if (numeric) {
    column.base_ = header.base;
    column.step_ = header.step;
    column.divisor_ = header.divisor;
    if (header.value_bytes != 8) {
      // These are the limits of the writer, so that no number of the column overflows.
      if (!(std::abs(header.base) <= kExactIntegerMax) || !(header.step >= 1 && header.step <= kExactIntegerMax) ||
          !(header.divisor >= 1 && header.divisor <= kExactIntegerMax)) {
        Damaged("scale");
      }
    }
    column.all_present_ = header.value_count != 0;
    const auto present = part(ColumnPart::kPresent);
    if (!many && header.value_count != 0 && !present.empty()) {
      const uint64_t words = (uint64_t{document_count} + 63) / 64;
      column.present_ = reinterpret_cast<const uint64_t*>(Expect(present, 8 * words, "presence"));
    }
    const uint64_t blocks = (uint64_t{document_count} + kColumnBlockSize - 1) / kColumnBlockSize;
    if (header.value_count != 0) {
      const uint8_t* ranges = Expect(part(ColumnPart::kRanges), 16 * blocks, "ranges");
      column.ranges_ = {reinterpret_cast<const double*>(ranges), 2 * blocks};
    }
  }
  return column;
}

uint32_t Column::LowerBound(std::string_view key) const {
  uint32_t low = 0;
  uint32_t high = dictionary_size_;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (Key(middle) < key) low = middle + 1; else high = middle;
  }
  return low;
}

bool Column::BlockRange(uint32_t block, double* minimum, double* maximum) const {
  if (2 * static_cast<size_t>(block) + 1 >= ranges_.size()) return false;
  *minimum = ranges_[2 * static_cast<size_t>(block)];
  *maximum = ranges_[2 * static_cast<size_t>(block) + 1];
  return *minimum <= *maximum;
}

}  // namespace gannet
