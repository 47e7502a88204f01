#include "record_formats.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gannet {
namespace {

constexpr ByteSet MakeByteSet(std::string_view bytes) {
  ByteSet set{};
  for (const char byte : bytes) set[static_cast<uint8_t>(byte)] = true;
  return set;
}

// Returns the number of bytes of `text` before the first one in the set.
size_t SpanOutside(std::string_view text, const ByteSet& set) {
  size_t at = 0;
  while (at < text.size() && !set[static_cast<uint8_t>(text[at])]) ++at;
  return at;
}

constexpr ByteSet kNestedStops = MakeByteSet("\"{}[]\r\n");
constexpr ByteSet kStringStops = MakeByteSet("\"\\\r\n");
constexpr ByteSet kScalarStops = MakeByteSet(" \t\r\n,]");
constexpr ByteSet kScalarBytes =
    MakeByteSet("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

bool IsJsonSpace(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

std::string Quoted(char byte) {
  if (byte > 0x20 && byte < 0x7f) return std::string("'") + byte + "'";
  return "a byte of value " + std::to_string(static_cast<uint8_t>(byte));
}

}  // namespace

// --- NDJSON

void NdjsonSplitter::Feed(std::string_view chunk) {
  while (!chunk.empty()) {
    const auto* line_break = static_cast<const char*>(std::memchr(chunk.data(), '\n', chunk.size()));
    if (line_break == nullptr) return Append(chunk);
    const auto length = static_cast<size_t>(line_break - chunk.data());
    Append(chunk.substr(0, length));
    chunk.remove_prefix(length + 1);
    EndLine();
  }
}

void NdjsonSplitter::EndLine() {
  DropCarriageReturn();
  Complete(/*skip_blank=*/true);
  record_line_ = ++line_;
}

void NdjsonSplitter::Finish() { EndLine(); }

// --- JSON array

void JsonArraySplitter::Feed(std::string_view chunk) {
  while (!chunk.empty()) {
    size_t taken = 1;
    switch (state_) {
      case State::kNested: taken = FeedNested(chunk); break;
      case State::kString: taken = FeedString(chunk); break;
      case State::kScalar: taken = FeedScalar(chunk); break;
      case State::kEscape:
        if (chunk.front() == '\n' || chunk.front() == '\r') {
          Append("\r");
        } else {
          Append(chunk.substr(0, 1));
        }
        state_ = State::kString;
        break;
      default: FeedBetween(chunk.front());
    }
    chunk.remove_prefix(taken);
  }
}

void JsonArraySplitter::FeedBetween(char byte) {
  if (IsJsonSpace(byte)) return;
  switch (state_) {
    case State::kStart:
      if (byte != '[') throw Error(ErrorCode::kInvalidArgument, "expected a JSON array, found " + Quoted(byte));
      state_ = State::kFirstElement;
      return;
    case State::kFirstElement:
      if (byte == ']') {
        state_ = State::kEnd;
        return;
      }
      return BeginElement(byte);
    case State::kElement: return BeginElement(byte);
    case State::kAfterElement:
      if (byte == ',') {
        state_ = State::kElement;
      } else if (byte == ']') {
        state_ = State::kEnd;
      } else {
        Fail(ErrorCode::kInvalidArgument, "expected a comma or ] behind it, found " + Quoted(byte));
      }
      return;
    default:
      throw Error(ErrorCode::kInvalidArgument, "expected nothing behind the JSON array, found " + Quoted(byte));
  }
}

void JsonArraySplitter::BeginElement(char byte) {
  record_line_ = ++line_;
  depth_ = 0;
  if (byte == '{' || byte == '[') {
    depth_ = 1;
    state_ = State::kNested;
  } else if (byte == '"') {
    state_ = State::kString;
  } else if (kScalarBytes[static_cast<uint8_t>(byte)]) {
    state_ = State::kScalar;
  } else {
    Fail(ErrorCode::kInvalidArgument, "expected a JSON value, found " + Quoted(byte));
  }
  Append(std::string_view(&byte, 1));
}

size_t JsonArraySplitter::FeedNested(std::string_view rest) {
  const size_t plain = SpanOutside(rest, kNestedStops);
  Append(rest.substr(0, plain));
  if (plain == rest.size()) return plain;
  const char stop = rest[plain];
  if (stop == '\n' || stop == '\r') {
    Append(" ");
    return plain + 1;
  }
  Append(rest.substr(plain, 1));
  if (stop == '"') {
    state_ = State::kString;
  } else if (stop == '{' || stop == '[') {
    ++depth_;
  } else if (--depth_ == 0) {
    EndElement();
  }
  return plain + 1;
}

size_t JsonArraySplitter::FeedString(std::string_view rest) {
  const size_t plain = SpanOutside(rest, kStringStops);
  Append(rest.substr(0, plain));
  if (plain == rest.size()) return plain;
  const char stop = rest[plain];
  if (stop == '\n' || stop == '\r') {
    Append("\r");
    return plain + 1;
  }
  Append(rest.substr(plain, 1));
  if (stop == '\\') {
    state_ = State::kEscape;
  } else if (depth_ > 0) {
    state_ = State::kNested;
  } else {
    EndElement();
  }
  return plain + 1;
}

size_t JsonArraySplitter::FeedScalar(std::string_view rest) {
  const size_t plain = SpanOutside(rest, kScalarStops);
  for (size_t i = 0; i < plain; ++i) {
    if (!kScalarBytes[static_cast<uint8_t>(rest[i])]) {
      Fail(ErrorCode::kInvalidArgument, "expected a comma or ] behind it, found " + Quoted(rest[i]));
    }
  }
  Append(rest.substr(0, plain));
  // The byte that ends a scalar belongs to the array: it is left to FeedBetween.
  if (plain < rest.size()) EndElement();
  return plain;
}

void JsonArraySplitter::EndElement() {
  Complete(/*skip_blank=*/false);
  state_ = State::kAfterElement;
}

void JsonArraySplitter::Finish() {
  if (state_ == State::kEnd) return;
  if (state_ == State::kStart) throw Error(ErrorCode::kInvalidArgument, "expected a JSON array, found nothing");
  throw Error(ErrorCode::kInvalidArgument,
              "the JSON array is not closed: it ends at element " + std::to_string(line_));
}

// --- CSV

CsvSplitter::CsvSplitter(size_t record_bytes_max, char separator)
    : RecordSplitter(record_bytes_max),
      separator_(separator),
      field_stops_(MakeByteSet(std::string({separator, '\n'}))) {}

void CsvSplitter::Feed(std::string_view chunk) {
  while (!chunk.empty()) {
    if (state_ == State::kQuoted) {
      const auto* stop = static_cast<const char*>(std::memchr(chunk.data(), '"', chunk.size()));
      const size_t length = stop == nullptr ? chunk.size() : static_cast<size_t>(stop - chunk.data());
      const std::string_view quoted = chunk.substr(0, length);
      line_ += static_cast<size_t>(std::count(quoted.begin(), quoted.end(), '\n'));
      Append(quoted);
      chunk.remove_prefix(length);
      if (!chunk.empty()) {
        Append("\"");
        chunk.remove_prefix(1);
        state_ = State::kQuoteInQuoted;
      }
      continue;
    }
    const char byte = chunk.front();
    if (byte == '"' && state_ != State::kUnquoted) {  // opens a field, or is the second of two
      Append("\"");
      chunk.remove_prefix(1);
      state_ = State::kQuoted;
      continue;
    }
    const size_t length = SpanOutside(chunk, field_stops_);
    Append(chunk.substr(0, length));
    if (length > 0) state_ = State::kUnquoted;
    chunk.remove_prefix(length);
    if (chunk.empty()) return;
    if (chunk.front() == separator_) {
      Append(chunk.substr(0, 1));
      state_ = State::kFieldStart;
    } else {
      EndRow();
    }
    chunk.remove_prefix(1);
  }
}

void CsvSplitter::EndRow() {
  DropCarriageReturn();
  Complete(/*skip_blank=*/true);
  record_line_ = ++line_;
  state_ = State::kFieldStart;
}

void CsvSplitter::Finish() {
  if (state_ == State::kQuoted) Fail(ErrorCode::kInvalidArgument, "a quote of the row is not closed");
  EndRow();
}

}  // namespace gannet
