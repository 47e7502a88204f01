#include "segment_builder.h"

#include <algorithm>

#include "../common/bytes.h"
#include "../postings/norm.h"
#include "document_batch.h"
#include "inverter.h"
#include "segment_writer.h"

namespace gannet {
namespace {

// Address space that is reserved for the file, far beyond what it can take: a word of two bytes may become a term of
// 30, and every document has a length per field and a value per column, named in the batch or not.
constexpr uint64_t kSizeSlackBytes = 64u << 20;
constexpr uint64_t kSizeFactor = 32;

class Builder {
 public:
  Builder(const SegmentSchema& schema, std::span<const uint8_t> documents)
      : schema_(schema),
        reader_(documents, ErrorCode::kInvalidArgument),
        document_bytes_(documents.size()),
        texts_(schema.text_field_weight_units.size()),
        inverter_(schema.text_field_weight_units) {
    for (const ColumnMeta& column : schema.columns) columns_.emplace_back(column.type, column.many);
  }

  SegmentSummary Build(const std::string& path) {
    const uint32_t count = reader_.Integer<uint32_t>();
    if (count == 0) throw Error(ErrorCode::kInvalidArgument, "a batch without documents");
    if (count > kMaxDocumentsPerSegment) throw Error(ErrorCode::kLimit, "more than 2^24 documents in a segment");
    for (uint32_t document = 0; document < count; ++document) ReadDocument();
    if (reader_.remaining() != 0) reader_.Fail();

    const uint64_t fixed_bytes = 64 + 4 * texts_.size() + 32 * columns_.size();
    SegmentWriter writer(path, schema_, count, document_bytes_ * kSizeFactor + count * fixed_bytes + kSizeSlackBytes);
    for (uint32_t column = 0; column < columns_.size(); ++column) writer.WriteColumn(column, &columns_[column]);
    columns_.clear();
    const auto& lengths = inverter_.lengths();
    std::vector<uint64_t> weighted(count, 0);
    for (uint32_t field = 0; field < lengths.size(); ++field) {
      writer.WriteFieldLengths(field, lengths[field]);
      for (uint32_t document = 0; document < count; ++document) {
        weighted[document] += uint64_t{lengths[field][document]} * schema_.text_field_weight_units[field];
      }
    }
    std::vector<uint8_t> norms(count);
    std::ranges::transform(weighted, norms.begin(), EncodeNorm);
    writer.WriteNorms(norms);
    inverter_.WriteLists(norms, writer.AverageLength(), [&](std::string_view term, std::span<const uint8_t> list) {
      writer.AddTerm(term, list);
    });
    return writer.Finish(record_numbers_);
  }

 private:
  void ReadDocument() {
    record_numbers_.push_back(reader_.Integer<uint32_t>());
    ByteReader entries(reader_.Bytes(reader_.Integer<uint32_t>()), ErrorCode::kInvalidArgument);
    // Values of one field may lie apart; positions go by field.
    for (auto& values : texts_) values.clear();
    while (entries.remaining() > 0) {
      const auto kind = static_cast<EntryKind>(entries.Integer<uint8_t>());
      const size_t index = entries.Integer<uint16_t>();
      if (index >= (kind == EntryKind::kText ? texts_.size() : columns_.size())) entries.Fail();
      switch (kind) {
        case EntryKind::kText:
          texts_[index].push_back(entries.Text());
          break;
        case EntryKind::kString: {
          const std::string_view key = entries.Text();
          columns_[index].AddString(key, entries.Text());
          break;
        }
        case EntryKind::kNumber:
          columns_[index].AddNumber(entries.Integer<double>());
          break;
        case EntryKind::kLocation: {
          const double latitude = entries.Integer<double>();
          columns_[index].AddLocation(latitude, entries.Integer<double>());
          break;
        }
        default:
          entries.Fail();
      }
    }
    inverter_.AddDocument(texts_);
    for (ColumnWriter& column : columns_) column.EndDocument();
  }

  const SegmentSchema& schema_;
  ByteReader reader_;
  size_t document_bytes_;
  std::vector<std::vector<std::string_view>> texts_;
  std::vector<ColumnWriter> columns_;
  std::vector<uint32_t> record_numbers_;
  Inverter inverter_;
};

}  // namespace

SegmentSummary BuildSegment(const std::string& path, const SegmentSchema& schema, std::span<const uint8_t> documents) {
  CheckSchema(schema);
  return Builder(schema, documents).Build(path);
}

}  // namespace gannet
