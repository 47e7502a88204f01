#include "record_splitter.h"

#include <utility>

#include "record_formats.h"

namespace gannet {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr size_t kPastByteOrderMark = std::string_view::npos;

}  // namespace

std::unique_ptr<RecordSplitter> RecordSplitter::Create(RecordFormat format, size_t record_bytes_max,
                                                       char csv_separator) {
  if (record_bytes_max == 0 || record_bytes_max > kRecordBytesMaxMax) {
    throw Error(ErrorCode::kInvalidArgument, "the longest record allowed has to be of 1 byte to 1 GiB");
  }
  if (csv_separator == '"' || csv_separator == '\n' || csv_separator == '\r') {
    throw Error(ErrorCode::kInvalidArgument, "the separator of CSV is neither a quote nor a line break");
  }
  switch (format) {
    case RecordFormat::kNdjson: return std::make_unique<NdjsonSplitter>(record_bytes_max);
    case RecordFormat::kJson: return std::make_unique<JsonArraySplitter>(record_bytes_max);
    case RecordFormat::kCsv: return std::make_unique<CsvSplitter>(record_bytes_max, csv_separator);
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown record format");
}

SplitRecords RecordSplitter::Push(std::string_view chunk) {
  return Run([&] {
    if (ended_) throw Error(ErrorCode::kInvalidArgument, "the stream of records has ended");
    if (chunk.size() > kChunkBytesMax) throw Error(ErrorCode::kLimit, "a chunk of records is longer than 1 GiB");
    FeedPastByteOrderMark(chunk);
  });
}

SplitRecords RecordSplitter::End() {
  return Run([&] {
    if (ended_) throw Error(ErrorCode::kInvalidArgument, "the stream of records has ended");
    ended_ = true;
    if (byte_order_mark_ != kPastByteOrderMark) Feed(kByteOrderMark.substr(0, byte_order_mark_));
    Finish();
  });
}

template <typename Step>
SplitRecords RecordSplitter::Run(Step step) {
  if (error_) throw *error_;
  try {
    step();
  } catch (const Error& error) {
    error_ = error;
    if (ends_.empty()) throw;
  }
  SplitRecords result;
  if (ends_.empty()) return result;
  std::string rest = buffer_.substr(record_begin_);
  buffer_.resize(record_begin_);
  result.bytes = std::exchange(buffer_, std::move(rest));
  result.ends = std::exchange(ends_, {});
  result.lines = std::exchange(lines_, {});
  record_begin_ = 0;
  return result;
}

void RecordSplitter::FeedPastByteOrderMark(std::string_view chunk) {
  while (byte_order_mark_ != kPastByteOrderMark && !chunk.empty()) {
    if (chunk.front() == kByteOrderMark[byte_order_mark_]) {
      chunk.remove_prefix(1);
      if (++byte_order_mark_ == kByteOrderMark.size()) byte_order_mark_ = kPastByteOrderMark;
    } else {
      const size_t seen = std::exchange(byte_order_mark_, kPastByteOrderMark);
      Feed(kByteOrderMark.substr(0, seen));
    }
  }
  if (!chunk.empty()) Feed(chunk);
}

void RecordSplitter::Append(std::string_view bytes) {
  // Allows one byte more, for a carriage return that may belong to the end of the line.
  if (bytes.size() + record_bytes() > record_bytes_max_ + 1) {
    Fail(ErrorCode::kLimit, "the record is longer than " + std::to_string(record_bytes_max_) + " bytes");
  }
  buffer_.append(bytes);
}

void RecordSplitter::DropCarriageReturn() {
  if (record_bytes() > 0 && buffer_.back() == '\r') buffer_.pop_back();
}

void RecordSplitter::Complete(bool skip_blank) {
  if (skip_blank && buffer_.find_first_not_of(" \t\r", record_begin_) == std::string::npos) {
    buffer_.resize(record_begin_);
    return;
  }
  if (record_bytes() > record_bytes_max_) {
    Fail(ErrorCode::kLimit, "the record is longer than " + std::to_string(record_bytes_max_) + " bytes");
  }
  buffer_.push_back('\n');
  record_begin_ = buffer_.size();
  ends_.push_back(static_cast<uint32_t>(buffer_.size()));
  lines_.push_back(record_line_);
}

void RecordSplitter::Fail(ErrorCode code, const std::string& what) const {
  throw Error(code, unit() + (" " + std::to_string(record_line_)) + ": " + what);
}

}  // namespace gannet
