#include "segment_writer.h"

#include <algorithm>
#include <numeric>

#include "../common/bytes.h"
#include "../postings/posting_layout.h"

namespace gannet {
namespace {

std::span<const uint8_t> BytesOf(std::span<const uint32_t> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

void CheckSchema(const SegmentSchema& schema) {
  if (schema.text_field_weight_units.size() > kTextFieldsMax || schema.columns.size() > kColumnsMax) {
    throw Error(ErrorCode::kLimit, "a segment has at most 4096 text fields and 4096 columns");
  }
  for (const uint32_t units : schema.text_field_weight_units) {
    if (units < 1 || units > kWeightUnitsMax) throw Error(ErrorCode::kInvalidArgument, "a weight is 1 to 1000 units");
  }
  if (schema.language.size() > kLanguageBytesMax) {
    throw Error(ErrorCode::kInvalidArgument, "a language is a tag of at most 16 bytes");
  }
  for (const ColumnMeta& column : schema.columns) {
    if (column.type > ColumnType::kLocation || (column.type == ColumnType::kLocation && column.many)) {
      throw Error(ErrorCode::kInvalidArgument, "column " + column.name + " has an impossible type");
    }
  }
}

SegmentWriter::SegmentWriter(const std::string& path, const SegmentSchema& schema, uint32_t document_count,
                             uint64_t size_bytes_max)
    : path_(path), temporary_path_(UnfinishedPath(path)), guard_(temporary_path_), file_(temporary_path_, size_bytes_max) {
  meta_.document_count = document_count;
  for (const uint32_t units : schema.text_field_weight_units) meta_.text_fields.push_back({units, 0});
  meta_.columns = schema.columns;
  meta_.language = schema.language;
}

void SegmentWriter::WriteColumn(uint32_t column, ColumnWriter* values) {
  values->Write([&](ColumnPart part, std::span<const uint8_t> bytes) {
    file_.Put(MakeKey16(Key::kColumn, column, static_cast<uint8_t>(part)), bytes);
  });
}

void SegmentWriter::WriteFieldLengths(uint32_t field, std::span<const uint32_t> lengths) {
  uint64_t sum = 0;
  for (const uint32_t length : lengths) sum += length;
  meta_.text_fields[field].token_count = sum;
  meta_.weighted_length_sum += sum * meta_.text_fields[field].weight_units;
  WriteLengths(field, lengths);
}

void SegmentWriter::WritePartLengths(uint32_t field, std::span<const uint32_t> lengths) {
  WriteLengths(static_cast<uint32_t>(meta_.text_fields.size()) + field, lengths);
}

void SegmentWriter::WriteLengths(uint32_t index, std::span<const uint32_t> lengths) {
  const uint32_t highest = lengths.empty() ? 0 : std::ranges::max(lengths);
  const size_t width = highest == 0 ? 0 : highest <= 0xff ? 1 : highest <= 0xffff ? 2 : 4;
  uint8_t* out = file_.Reserve(MakeKey16(Key::kFieldLengths, index), width * lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) std::memcpy(out + i * width, &lengths[i], width);
}

void SegmentWriter::WriteNorms(std::span<const uint8_t> norms) {
  // The number of terms is not known yet; Finish replaces the value.
  file_.Put(MakeKey(Key::kMeta), EncodeSegmentMeta(meta_));
  file_.Put(MakeKey(Key::kNorms), norms);
}

float SegmentWriter::AverageLength() const {
  return static_cast<float>(static_cast<double>(meta_.weighted_length_sum) / meta_.document_count);
}

void SegmentWriter::FlushChunk() {
  if (chunk_.empty()) return;
  chunk_.resize(chunk_.size() + kPostingChunkPadding);
  file_.Put(MakeKey32(Key::kPostings, chunk_count_++), chunk_);
  chunk_.clear();
}

void SegmentWriter::AddTerm(std::string_view term, std::span<const uint8_t> list) {
  ++meta_.term_count;
  std::vector<uint8_t> reference;
  std::span<const uint8_t> value = list;
  if (list.size() > kInlinePostingBytesMax) {
    if (chunk_.size() + list.size() > kPostingChunkBytes) FlushChunk();
    AppendVarint(&reference, ByteReader(list).Varint() | kExternalFlag);
    AppendVarint(&reference, chunk_count_);
    AppendVarint(&reference, chunk_.size());
    AppendVarint(&reference, list.size());
    AppendBytes(&chunk_, list);
    value = reference;
  }
  AppendInteger(&entries_, static_cast<uint16_t>(term.size()));
  AppendInteger(&entries_, static_cast<uint16_t>(value.size()));
  AppendBytes(&entries_, AsBytes(term));
  AppendBytes(&entries_, value);
}

void SegmentWriter::VisitEntries(
    const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) const {
  for (ByteReader reader(entries_); reader.remaining() > 0;) {
    const size_t key_bytes = reader.Integer<uint16_t>();
    const size_t value_bytes = reader.Integer<uint16_t>();
    const std::string_view term = AsText(reader.Bytes(key_bytes));
    visit(term, reader.Bytes(value_bytes));
  }
}

void SegmentWriter::WriteStemGroups(SpellingIndexWriter* spelling) {
  StemGroupWriter groups(meta_.language);
  VisitEntries([&](std::string_view term, std::span<const uint8_t> value) {
    spelling->Add(term);
    groups.Add(term, ByteReader(value).Varint() >> 1);
  });
  std::vector<uint8_t> key = MakeKey(Key::kStemGroup);
  groups.Write([&](std::string_view stem, std::span<const uint8_t> value) {
    key.resize(1);
    AppendBytes(&key, AsBytes(stem));
    file_.Put(key, value);
  });
}

void SegmentWriter::WriteTerms() {
  std::vector<uint8_t> key = MakeKey(Key::kTerm);
  VisitEntries([&](std::string_view term, std::span<const uint8_t> value) {
    key.resize(1);
    AppendBytes(&key, AsBytes(term));
    file_.Put(key, value);
  });
}

void SegmentWriter::WriteSpelling(const SpellingIndexWriter& spelling) {
  if (spelling.empty()) return;
  file_.Put(MakeKey8(Key::kSpelling, 0), AsBytes(spelling.text()));
  file_.Put(MakeKey8(Key::kSpelling, 1), BytesOf(spelling.offsets()));
  file_.Put(MakeKey8(Key::kSpelling, 2), BytesOf(spelling.Backwards()));
}

SegmentSummary SegmentWriter::Finish(std::span<const uint32_t> record_numbers) {
  FlushChunk();
  file_.Put(MakeKey8(Key::kRecordNumbers, 0), BytesOf(record_numbers));
  std::vector<uint32_t> order(record_numbers.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto by_record = [&](uint32_t left, uint32_t right) { return record_numbers[left] < record_numbers[right]; };
  const bool ascending = std::ranges::is_sorted(record_numbers);
  if (!ascending) std::ranges::sort(order, by_record);
  for (size_t i = 1; i < order.size(); ++i) {
    if (record_numbers[order[i - 1]] == record_numbers[order[i]]) {
      throw Error(ErrorCode::kInvalidArgument, "record number " + std::to_string(record_numbers[order[i]]) + " twice");
    }
  }
  if (!ascending) file_.Put(MakeKey8(Key::kRecordNumbers, 1), BytesOf(order));

  SpellingIndexWriter spelling;
  WriteStemGroups(&spelling);
  WriteTerms();
  WriteSpelling(spelling);
  file_.Overwrite(MakeKey(Key::kMeta), EncodeSegmentMeta(meta_));
  const uint64_t bytes = file_.Finish();
  RenameAndSyncDirectory(temporary_path_, path_);
  guard_.Keep();
  return {meta_.document_count, meta_.term_count, bytes};
}

}  // namespace gannet
