// Tests JSON strings: every byte at every place of a text, against one byte at a time.
#include "../kernel/common/json_writer.h"

#include <cstdio>
#include <random>
#include <string>

#include "check.h"

namespace gannet {
namespace {

std::string Expected(std::string_view text) {
  std::string json = "\"";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
    if (byte < 0x20) json.append(escape);
    else if (byte == '"' || byte == '\\') json.append({'\\', character});
    else json.push_back(character);
  }
  return json.append("\"");
}

std::string Written(std::string_view text) {
  std::string json;
  AppendJsonString(text, &json);
  return json;
}

TEST(json_string_escapes_every_byte_at_every_place) {
  constexpr size_t kLengthMax = 19;  // two words of eight bytes and three more
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (size_t length = 1; length <= kLengthMax; ++length) {
      for (size_t place = 0; place < length; ++place) {
        for (const char other : {'a', '!', '\xff', '\x80', '[', '#'}) {
          std::string text(length, other);
          text[place] = static_cast<char>(byte);
          CHECK_EQ(Written(text), Expected(text));
        }
      }
    }
  }
}

TEST(json_string_of_random_bytes_is_as_one_byte_at_a_time) {
  std::mt19937_64 random(20);
  constexpr char kLikely[] = "ab\"\\\n\x1f \x7f\x80\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 70, ' ');
    for (char& character : text) character = kLikely[random() % (sizeof(kLikely) - 1)];
    CHECK_EQ(Written(text), Expected(text));
  }
}

}  // namespace
}  // namespace gannet
