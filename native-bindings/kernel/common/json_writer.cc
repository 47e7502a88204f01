#include "json_writer.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "bytes.h"

namespace gannet {
namespace {

// Returns true if a JSON string holds these eight characters as they are. Each test sets the high bit of the bytes that
// it looks for, and perhaps of the bytes above them, but of no other: for bytes from 0x80 on it is masked out.
bool AreCopied(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  const uint64_t quotes = bytes ^ (kOnes * '"');
  const uint64_t backslashes = bytes ^ (kOnes * '\\');
  const uint64_t controls = (bytes - kOnes * 0x20) & ~bytes;
  return ((controls | ((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes)) & kHighBits) == 0;
}

constexpr double kLargestSafeInteger = 9007199254740991;
// 32000 years in either direction, which std::chrono::year can represent.
constexpr double kDateMillisecondsMax = 32000.0 * 365 * 86'400'000;

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t copied = 0;  // most of a text is copied in a few runs
  for (size_t at = 0; at < text.size(); ++at) {
    while (text.size() - at >= sizeof(uint64_t) && AreCopied(Load<uint64_t>(text.data() + at))) at += sizeof(uint64_t);
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out->append(text.substr(copied, at - copied));
    copied = at + 1;
    if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
      out->append(escape);
    } else {
      out->push_back('\\');
      out->push_back(text[at]);
    }
  }
  out->append(text.substr(copied));
  out->push_back('"');
}

void AppendJsonNumber(double number, std::string* out) {
  if (!std::isfinite(number)) {
    out->append("null");
    return;
  }
  char digits[40];
  const bool whole = number == std::trunc(number) && std::abs(number) <= kLargestSafeInteger;
  const auto result = whole ? std::to_chars(digits, digits + sizeof(digits), static_cast<int64_t>(number))
                            : std::to_chars(digits, digits + sizeof(digits), number);
  out->append(digits, result.ptr);
}

void AppendJsonDate(double milliseconds, std::string* out) {
  if (!(std::abs(milliseconds) <= kDateMillisecondsMax)) {
    AppendJsonNumber(milliseconds, out);
    return;
  }
  using std::chrono::days;
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(static_cast<int64_t>(std::floor(milliseconds)))};
  const auto day = floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const int year = static_cast<int>(date.year());
  char text[48];
  std::snprintf(text, sizeof(text), year >= 0 && year <= 9999 ? "\"%04d" : "\"%+07d", year);
  out->append(text);
  std::snprintf(text, sizeof(text), "-%02u-%02uT%02d:%02d:%02d.%03dZ\"", static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  out->append(text);
}

}  // namespace gannet
