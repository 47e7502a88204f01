// The state machines of RecordSplitter, one per format.
//
// Thread-safety: as RecordSplitter.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "record_splitter.h"

namespace gannet {

using ByteSet = std::array<bool, 256>;

class NdjsonSplitter final : public RecordSplitter {
 public:
  explicit NdjsonSplitter(size_t record_bytes_max) : RecordSplitter(record_bytes_max) {}

 private:
  void Feed(std::string_view chunk) override;
  void Finish() override;
  void EndLine();
};

class JsonArraySplitter final : public RecordSplitter {
 public:
  explicit JsonArraySplitter(size_t record_bytes_max) : RecordSplitter(record_bytes_max) { record_line_ = line_ = 0; }

 private:
  enum class State {
    kStart,         // before [
    kFirstElement,  // after [: an element or ]
    kElement,       // after a comma: an element
    kNested,        // in an object or array
    kString,
    kEscape,        // after a backslash in a string
    kScalar,        // in a number, true, false, null or a similar token
    kAfterElement,  // after an element: a comma or ]
    kEnd,           // after the closing ]: white space only
  };

  void Feed(std::string_view chunk) override;
  void Finish() override;
  const char* unit() const override { return "element"; }
  // Consumes one byte between elements.
  void FeedBetween(char byte);
  // Each consumes what it can of `rest` and returns the number of bytes.
  size_t FeedNested(std::string_view rest);
  size_t FeedString(std::string_view rest);
  size_t FeedScalar(std::string_view rest);
  void BeginElement(char byte);
  void EndElement();

  State state_ = State::kStart;
  size_t depth_ = 0;  // open objects and arrays within the element
};

class CsvSplitter final : public RecordSplitter {
 public:
  CsvSplitter(size_t record_bytes_max, char separator);

 private:
  enum class State {
    kFieldStart,
    kUnquoted,
    kQuoted,
    kQuoteInQuoted,  // after a quote within quotes: the first of two, or the end
  };

  void Feed(std::string_view chunk) override;
  void Finish() override;
  void EndRow();

  const char separator_;
  const ByteSet field_stops_;
  State state_ = State::kFieldStart;
};

}  // namespace gannet
