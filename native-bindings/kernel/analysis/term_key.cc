#include <bit>
#include <cstring>

#include "../format.h"
#include "analyzer.h"

namespace gannet {
namespace {

uint64_t Mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdu;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53u;
  return value ^ value >> 33;
}

uint64_t LoadWord(const char* bytes, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);  // little-endian, like the file format
  return word;
}

struct Hash128 {
  uint64_t low;
  uint64_t high;
};

// MurmurHash3 x64 128 with seed 0.
Hash128 Hash(std::string_view text) {
  constexpr uint64_t kFirst = 0x87c37b91114253d5u;
  constexpr uint64_t kSecond = 0x4cf5ad432745937fu;
  const auto scramble_first = [](uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; };
  const auto scramble_second = [](uint64_t word) { return std::rotl(word * kSecond, 33) * kFirst; };
  uint64_t low = 0;
  uint64_t high = 0;
  size_t at = 0;
  for (; text.size() - at >= 16; at += 16) {
    low ^= scramble_first(LoadWord(text.data() + at, 8));
    low = (std::rotl(low, 27) + high) * 5 + 0x52dce729;
    high ^= scramble_second(LoadWord(text.data() + at + 8, 8));
    high = (std::rotl(high, 31) + low) * 5 + 0x38495ab5;
  }
  const size_t rest = text.size() - at;
  if (rest > 8) high ^= scramble_second(LoadWord(text.data() + at + 8, rest - 8));
  if (rest > 0) low ^= scramble_first(LoadWord(text.data() + at, rest < 8 ? rest : 8));
  low ^= text.size();
  high ^= text.size();
  low += high;
  high += low;
  low = Mix(low);
  high = Mix(high);
  low += high;
  high += low;
  return {low, high};
}

void AppendHexadecimal(uint64_t value, std::string* out) {
  for (int shift = 60; shift >= 0; shift -= 4) out->push_back("0123456789abcdef"[value >> shift & 15]);
}

// The prefix is shorter if it would end within a character.
constexpr size_t kTermPrefixBytesMin = kTermPrefixBytes - 4;

}  // namespace

bool IsWholeTerm(std::string_view key) {
  return key.size() <= kTermPrefixBytesMin || key.find('\0', kTermPrefixBytesMin) == std::string_view::npos;
}

std::string_view TermKey(std::string_view term, std::string* scratch) {
  static_assert(kTermPrefixBytes + 1 + 32 <= kTermBytesMax, "a key of a long term has to be no long term");
  if (term.size() <= kTermBytesMax) return term;
  size_t prefix = kTermPrefixBytes;
  while (prefix > kTermPrefixBytesMin && (term[prefix] & 0xc0) == 0x80) --prefix;  // not within a character
  const Hash128 hash = Hash(term);
  scratch->assign(term.substr(0, prefix));
  scratch->push_back('\0');
  AppendHexadecimal(hash.high, scratch);
  AppendHexadecimal(hash.low, scratch);
  return *scratch;
}

}  // namespace gannet
