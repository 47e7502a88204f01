// Cuts a stream of bytes into records without parsing them, in linear time, wherever the chunks are cut.
//
//   NDJSON      one record per line; LF or CRLF; blank lines are skipped but counted.
//   JSON array  one record per element, whatever its type; line breaks between tokens become blanks. A raw line break
//               inside a string, which JSON forbids, becomes a carriage return: still forbidden, so that the record
//               is refused and not silently repaired.
//   CSV         RFC 4180: one record per row, of which the first is the header; a quote opens only at the start of a
//               field, and line breaks within quotes are kept. Blank lines are skipped but counted.
//
// A byte order mark at the start is dropped. An error in the stream is thrown after the records before it were
// returned, so that the records do not depend on the chunks; every later call throws it again. Errors: kInvalidArgument
// (garbage between elements, an array or quote that is not closed) and kLimit (a record longer than record_bytes_max,
// or a chunk longer than kChunkBytesMax), each naming the line or element.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../common/error.h"

namespace gannet {

enum class RecordFormat : uint8_t { kNdjson, kJson, kCsv };

inline constexpr size_t kRecordBytesMaxMax = size_t{1} << 30;
inline constexpr size_t kChunkBytesMax = size_t{1} << 30;

struct SplitRecords {
  std::string bytes;            // the records, each followed by LF
  std::vector<uint32_t> ends;   // offset after each record and its LF
  std::vector<uint32_t> lines;  // 1-based line (element, for JSON) on which each record begins
};

class RecordSplitter {
 public:
  // `csv_separator` is the character between the fields of CSV; neither a quote nor a line break.
  static std::unique_ptr<RecordSplitter> Create(RecordFormat format, size_t record_bytes_max,
                                                char csv_separator = ',');
  virtual ~RecordSplitter() = default;

  // Returns the records that are complete by now; there may be none.
  SplitRecords Push(std::string_view chunk);
  // Returns the rest at the end of the stream. To be called once; no Push may follow.
  SplitRecords End();

 protected:
  explicit RecordSplitter(size_t record_bytes_max) : record_bytes_max_(record_bytes_max) {}

  virtual void Feed(std::string_view chunk) = 0;
  virtual void Finish() = 0;

  // The current record.
  size_t record_bytes() const { return buffer_.size() - record_begin_; }
  void Append(std::string_view bytes);
  // Ends the current record. A blank one is skipped if `skip_blank` is set.
  void Complete(bool skip_blank);
  void DropCarriageReturn();

  // Unit in which errors name the beginning of the current record: "line 7", "element 7".
  virtual const char* unit() const { return "line"; }
  [[noreturn]] void Fail(ErrorCode code, const std::string& what) const;

  uint32_t line_ = 1;         // current 1-based line or element of the stream
  uint32_t record_line_ = 1;  // where the current record began

 private:
  template <typename Step>
  SplitRecords Run(Step step);
  void FeedPastByteOrderMark(std::string_view chunk);

  const size_t record_bytes_max_;
  std::string buffer_;  // complete records, then the current one
  size_t record_begin_ = 0;
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> lines_;
  size_t byte_order_mark_ = 0;  // number of its bytes seen; npos once the stream is past it
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace gannet
