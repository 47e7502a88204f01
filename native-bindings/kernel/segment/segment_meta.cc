#include "segment_meta.h"

#include "../analysis/stemmer.h"
#include "../common/bytes.h"

namespace gannet {
namespace {

constexpr uint32_t kRevisionShift = 16;

// With the stems of a language, so that a change of those has segments of that language alone made again.
uint32_t VersionFor(std::string_view language) { return kFormatVersion | StemsRevision(language) << kRevisionShift; }

[[noreturn]] void FailUnsupported(uint32_t version, uint32_t expected) {
  throw Error(ErrorCode::kUnsupportedFormat, "segment format version " + std::to_string(version) + ", expected " +
                                                 std::to_string(expected));
}

}  // namespace

std::vector<uint8_t> EncodeSegmentMeta(const SegmentMeta& meta) {
  std::vector<uint8_t> bytes;
  AppendInteger(&bytes, VersionFor(meta.language));
  AppendInteger(&bytes, meta.document_count);
  AppendInteger(&bytes, meta.weighted_length_sum);
  AppendInteger(&bytes, meta.term_count);
  AppendInteger(&bytes, static_cast<uint32_t>(meta.text_fields.size()));
  for (const TextFieldMeta& field : meta.text_fields) {
    AppendInteger(&bytes, field.weight_units);
    AppendInteger(&bytes, field.token_count);
  }
  AppendInteger(&bytes, static_cast<uint32_t>(meta.columns.size()));
  for (const ColumnMeta& column : meta.columns) {
    AppendString(&bytes, column.name);
    bytes.push_back(static_cast<uint8_t>(column.type));
    bytes.push_back(column.many ? 1 : 0);
  }
  AppendString(&bytes, meta.language);
  return bytes;
}

SegmentMeta DecodeSegmentMeta(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  SegmentMeta meta;
  const uint32_t version = reader.Integer<uint32_t>();
  if ((version & ((1u << kRevisionShift) - 1)) != kFormatVersion) FailUnsupported(version, kFormatVersion);
  meta.document_count = reader.Integer<uint32_t>();
  if (meta.document_count == 0 || meta.document_count > kMaxDocumentsPerSegment) reader.Fail();
  meta.weighted_length_sum = reader.Integer<uint64_t>();
  meta.term_count = reader.Integer<uint64_t>();
  const uint32_t text_fields = reader.Integer<uint32_t>();
  if (text_fields > kTextFieldsMax) reader.Fail();
  for (uint32_t i = 0; i < text_fields; ++i) {
    const uint32_t weight_units = reader.Integer<uint32_t>();
    if (weight_units < 1 || weight_units > kWeightUnitsMax) reader.Fail();
    meta.text_fields.push_back({weight_units, reader.Integer<uint64_t>()});
  }
  const uint32_t columns = reader.Integer<uint32_t>();
  if (columns > kColumnsMax) reader.Fail();
  for (uint32_t i = 0; i < columns; ++i) {
    ColumnMeta column;
    column.name = reader.Text();
    const uint8_t type = reader.Integer<uint8_t>();
    const uint8_t many = reader.Integer<uint8_t>();
    if (type > static_cast<uint8_t>(ColumnType::kLocation) || many > 1) reader.Fail();
    column.type = static_cast<ColumnType>(type);
    column.many = many != 0;
    meta.columns.push_back(std::move(column));
  }
  meta.language = reader.Text();
  if (meta.language.size() > kLanguageBytesMax || reader.remaining() != 0) reader.Fail();
  if (version != VersionFor(meta.language)) FailUnsupported(version, VersionFor(meta.language));
  return meta;
}

}  // namespace gannet
