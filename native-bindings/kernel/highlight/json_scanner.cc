#include "json_scanner.h"

#include <cstdint>

#include "../analysis/utf8.h"

namespace gannet {
namespace {

// Returns the value of four hexadecimal digits at the start of `text`; -1 if they are missing.
int32_t ReadHexadecimal(std::string_view text) {
  if (text.size() < 4) return -1;
  int32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const char digit = text[i];
    value *= 16;
    if (digit >= '0' && digit <= '9') {
      value += digit - '0';
    } else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f') {
      value += (digit | 0x20) - 'a' + 10;
    } else {
      return -1;
    }
  }
  return value;
}

bool IsHighSurrogate(int32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(int32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

char JsonScanner::Peek() {
  while (at_ < json_.size()) {
    const char byte = json_[at_];
    if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t') return byte;
    ++at_;
  }
  return '\0';
}

bool JsonScanner::Take(char byte) {
  if (Peek() != byte || at_ == json_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::SkipString(bool* has_escapes) {
  size_t quote = json_.find('"', at_);
  while (quote != std::string_view::npos) {
    const size_t backslash = json_.substr(at_, quote - at_).find('\\');
    if (backslash == std::string_view::npos) {
      at_ = quote + 1;
      return true;
    }
    *has_escapes = true;
    at_ += backslash + 2;
    // The quote was escaped. The next one is searched for only then, so that a string of escapes is not rescanned at
    // each of them.
    if (at_ > quote) quote = json_.find('"', at_);
  }
  at_ = json_.size();
  return false;
}

bool JsonScanner::ReadString(std::string* scratch, std::string_view* value) {
  if (!Take('"')) return false;
  const size_t begin = at_;
  bool has_escapes = false;
  if (!SkipString(&has_escapes)) return false;
  const std::string_view raw = json_.substr(begin, at_ - 1 - begin);
  if (!has_escapes) {
    *value = raw;
    return true;
  }
  scratch->clear();
  if (!Unescape(raw, scratch)) return false;
  *value = *scratch;
  return true;
}

bool JsonScanner::Unescape(std::string_view escaped, std::string* out) {
  size_t at = 0;
  while (at < escaped.size()) {
    const size_t backslash = escaped.find('\\', at);
    out->append(escaped.substr(at, backslash - at));
    if (backslash == std::string_view::npos) return true;
    if (backslash + 1 >= escaped.size()) return false;
    const char kind = escaped[backslash + 1];
    at = backslash + 2;
    switch (kind) {
      case '"': case '\\': case '/': out->push_back(kind); break;
      case 'b': out->push_back('\b'); break;
      case 'f': out->push_back('\f'); break;
      case 'n': out->push_back('\n'); break;
      case 'r': out->push_back('\r'); break;
      case 't': out->push_back('\t'); break;
      case 'u': {
        int32_t unit = ReadHexadecimal(escaped.substr(at));
        if (unit < 0) return false;
        at += 4;
        if (IsHighSurrogate(unit) && escaped.substr(at).starts_with("\\u")) {
          const int32_t low = ReadHexadecimal(escaped.substr(at + 2));
          if (IsLowSurrogate(low)) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
          }
        }
        AppendUtf8(static_cast<uint32_t>(unit), out);
        break;
      }
      default: return false;
    }
  }
  return true;
}

bool JsonScanner::SkipValue() {
  size_t depth = 0;
  bool has_escapes = false;
  do {
    const char byte = Peek();
    if (at_ == json_.size()) return false;
    ++at_;
    switch (byte) {
      case '"':
        if (!SkipString(&has_escapes)) return false;
        break;
      case '{': case '[': ++depth; break;
      case '}': case ']':
        if (depth == 0) return false;
        --depth;
        break;
      case ',': case ':':
        if (depth == 0) return false;
        break;
      default:  // the rest of a number, true, false or null
        while (at_ < json_.size() && std::string_view(" \n\r\t,:]}").find(json_[at_]) == std::string_view::npos) ++at_;
    }
  } while (depth > 0);
  return true;
}

}  // namespace gannet
