// Decodes and encodes UTF-8, for the parts of the kernel that read characters.
//
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

inline constexpr uint32_t kReplacementCharacter = 0xfffd;

struct DecodedCharacter {
  uint32_t code;
  uint32_t length;  // in bytes, at least 1
};

// Decodes the character at `text`, of which `available` (> 0) bytes may be read. Ill-formed bytes give U+FFFD with the
// length of the maximal subpart (Unicode 17, table 3-8), so that every byte sequence decodes the same way everywhere.
inline DecodedCharacter DecodeUtf8(const char* text, size_t available) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text);
  const uint32_t first = bytes[0];
  if (first < 0x80) return {first, 1};
  if (first < 0xc2 || first > 0xf4) return {kReplacementCharacter, 1};
  // The second byte's range is narrower after E0, ED, F0 and F4: no overlong forms, surrogates or values over 10FFFF.
  const uint32_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint32_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (available < 2 || bytes[1] < low || bytes[1] > high) return {kReplacementCharacter, 1};
  if (first < 0xe0) return {(first & 0x1f) << 6 | (bytes[1] & 0x3fu), 2};
  if (available < 3 || (bytes[2] & 0xc0) != 0x80) return {kReplacementCharacter, 2};
  if (first < 0xf0) return {(first & 0x0f) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu), 3};
  if (available < 4 || (bytes[3] & 0xc0) != 0x80) return {kReplacementCharacter, 3};
  return {(first & 0x07) << 18 | (bytes[1] & 0x3fu) << 12 | (bytes[2] & 0x3fu) << 6 | (bytes[3] & 0x3fu), 4};
}

// Counts the characters of a well-formed text, such as a term.
inline uint32_t CountCharacters(std::string_view text) {
  return static_cast<uint32_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }));
}

// Appends a code point; surrogates and values over 10FFFF become U+FFFD.
inline void AppendUtf8(uint32_t code, std::string* out) {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = kReplacementCharacter;
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | code >> 18));
    out->push_back(static_cast<char>(0x80 | (code >> 12 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

}  // namespace gannet
