#include "segment_builder.h"

#include <algorithm>

#include "../common/bytes.h"
#include "../postings/norm.h"
#include "document_batch.h"
#include "inverter.h"
#include "segment_writer.h"

namespace gannet {
namespace {

// Reserved address space, far more than the file can need: a word of two bytes may become a term of 30, and every
// document has a length per field and a value per column, whether or not the batch names them.
constexpr uint64_t kSizeSlackBytes = 64u << 20;
constexpr uint64_t kSizeFactor = 32;

}  // namespace

class SegmentBuilder::Documents {
 public:
  explicit Documents(SegmentSchema schema)
      : schema_(std::move(schema)),
        texts_(schema_.text_field_weight_units.size()),
        inverter_(schema_.text_field_weight_units) {
    for (const ColumnMeta& column : schema_.columns) columns_.emplace_back(column.type, column.many);
  }

  void Add(std::span<const uint8_t> documents) {
    for (ByteReader reader(documents, ErrorCode::kInvalidArgument); reader.remaining() > 0;) ReadDocument(&reader);
    document_bytes_ += documents.size();
  }

  uint32_t count() const { return static_cast<uint32_t>(record_numbers_.size()); }

  SegmentSummary Write(const std::string& path) {
    const uint32_t count = this->count();
    if (count == 0) throw Error(ErrorCode::kInvalidArgument, "a batch without documents");
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
    const auto& part_lengths = inverter_.part_lengths();
    for (uint32_t field = 0; field < part_lengths.size(); ++field) writer.WritePartLengths(field, part_lengths[field]);
    std::vector<uint8_t> norms(count);
    std::ranges::transform(weighted, norms.begin(), EncodeNorm);
    writer.WriteNorms(norms);
    inverter_.WriteLists(norms, writer.AverageLength(), [&](std::string_view term, std::span<const uint8_t> list) {
      writer.AddTerm(term, list);
    });
    return writer.Finish(record_numbers_);
  }

 private:
  void ReadDocument(ByteReader* reader) {
    if (count() == kMaxDocumentsPerSegment) throw Error(ErrorCode::kLimit, "more than 2^24 documents in a segment");
    record_numbers_.push_back(reader->Integer<uint32_t>());
    ByteReader entries(reader->Bytes(reader->Integer<uint32_t>()), ErrorCode::kInvalidArgument);
    // The values of one field may be apart; positions are assigned by field.
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

  SegmentSchema schema_;
  uint64_t document_bytes_ = 0;
  std::vector<std::vector<std::string_view>> texts_;
  std::vector<ColumnWriter> columns_;
  std::vector<uint32_t> record_numbers_;
  Inverter inverter_;
};

SegmentBuilder::SegmentBuilder(SegmentSchema schema) {
  CheckSchema(schema);
  documents_ = std::make_unique<Documents>(std::move(schema));
}

SegmentBuilder::~SegmentBuilder() = default;

uint32_t SegmentBuilder::document_count() const { return documents_->count(); }

void SegmentBuilder::Add(std::span<const uint8_t> documents) { documents_->Add(documents); }

SegmentSummary SegmentBuilder::Write(const std::string& path) { return documents_->Write(path); }

SegmentSummary BuildSegment(const std::string& path, const SegmentSchema& schema, std::span<const uint8_t> documents) {
  SegmentBuilder builder(schema);
  ByteReader reader(documents, ErrorCode::kInvalidArgument);
  const uint32_t count = reader.Integer<uint32_t>();
  builder.Add(reader.Bytes(reader.remaining()));
  if (builder.document_count() != count) reader.Fail();
  return builder.Write(path);
}

}  // namespace gannet
