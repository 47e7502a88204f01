#include "word_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "../common/bytes.h"
#include "../common/error.h"
#include "../common/file_sum.h"
#include "../common/hash.h"
#include "../common/string_table.h"

namespace gannet {
namespace {

constexpr uint32_t kDictionaryFormat = 1;
constexpr size_t kSumBytes = sizeof(uint64_t);
// Number of bytes that are copied at once, from the words and to the text.
constexpr size_t kPaddingBytes = 16;
constexpr uint8_t kShortCodes = 192;
constexpr uint8_t kLiteral = 255;
constexpr size_t kLiteralBytesMax = 256;
// Longer words hardly ever occur twice.
constexpr size_t kWordBytesMax = 40;
// The first byte of characters from U+3000 on, in scripts without blanks: each is a word by itself.
constexpr uint8_t kLeadOfWords = 0xe3;

// Odd, with evenly spread bits.
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;

constexpr std::array<bool, 256> kIsOfWord = [] {
  std::array<bool, 256> is{};
  for (size_t byte = 0; byte < is.size(); ++byte) {
    is[byte] = byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  }
  return is;
}();

uint8_t ByteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

struct Counted {
  std::string_view word;
  uint32_t count = 0;

  // Returns twice the number of bytes that the word saves; its code takes one or two bytes (1.5 on average).
  int64_t saved() const { return int64_t{count} * (2 * static_cast<int64_t>(word.size()) - 3); }
  // Returns twice the number of bytes that it takes in a dictionary.
  int64_t cost() const { return 2 * static_cast<int64_t>(word.size() + sizeof(uint32_t)); }
};

// Returns the words that are worth their places, in no order. They are in the table, whose seed is that of the process,
// so that nobody can prepare texts whose words collide.
std::vector<Counted> CountWords(std::span<const std::string_view> texts, StringTable* table) {
  std::vector<Counted> counted;
  for (const std::string_view text : texts) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = PackedWordEnd(text, begin);
      bool added = false;
      const uint32_t number = table->Intern(text.substr(begin, end - begin), &added);
      if (added) counted.push_back({(*table)[number]});
      ++counted[number].count;
      begin = end;
    }
  }
  std::erase_if(counted, [](const Counted& each) { return each.saved() <= each.cost(); });
  return counted;
}

// Writes a literal and returns its end.
uint8_t* WriteLiteral(std::string_view text, uint8_t* to) {
  for (size_t begin = 0; begin < text.size(); begin += kLiteralBytesMax) {
    const std::string_view chunk = text.substr(begin, kLiteralBytesMax);
    *to++ = kLiteral;
    *to++ = static_cast<uint8_t>(chunk.size() - 1);
    std::memcpy(to, chunk.data(), chunk.size());
    to += chunk.size();
  }
  return to;
}

struct Masks {
  uint64_t first;
  uint64_t second;
};

// Masks for the bytes of a word, by their number.
constexpr std::array<Masks, kPaddingBytes + 1> kMasks = [] {
  std::array<Masks, kPaddingBytes + 1> masks{};
  const auto low = [](size_t bytes) { return bytes == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * bytes); };
  for (size_t bytes = 0; bytes < masks.size(); ++bytes) {
    masks[bytes] = {low(std::min(bytes, sizeof(uint64_t))), low(bytes - std::min(bytes, sizeof(uint64_t)))};
  }
  return masks;
}();

constexpr uint64_t EachByte(uint8_t byte) { return 0x0101010101010101u * byte; }

// Returns one bit for each of eight bytes: set if it belongs to a word.
uint64_t WordBits(uint64_t bytes) {
  constexpr uint64_t kHigh = EachByte(0x80);
  const uint64_t low = bytes & ~kHigh;
  const auto between = [](uint64_t of, uint8_t first, uint8_t last) {
    return (of + EachByte(static_cast<uint8_t>(0x80 - first))) & ~(of + EachByte(static_cast<uint8_t>(0x7f - last)));
  };
  const uint64_t is = bytes | between(low | EachByte(0x20), 'a', 'z') | between(low, '0', '9');
  return (((is & kHigh) >> 7) * 0x0102040810204080u) >> 56;
}

// Returns a non-zero value if one of eight bytes begins a character that is a word by itself.
uint64_t LeadBits(uint64_t bytes) {
  return bytes & EachByte(0x80) & ((bytes & ~EachByte(0x80)) + EachByte(0x80 - (kLeadOfWords & 0x7f)));
}

constexpr size_t kBlockBytes = 64;

struct Block {
  uint64_t words;  // one bit per byte: set if it belongs to a word
  bool has_lead;
};

// Reads the 64 bytes from `at` on; bytes after the text belong to no word.
Block ReadBlock(std::string_view text, size_t at) {
  char padded[kBlockBytes] = {};
  const char* from = text.data() + at;
  if (text.size() - at < kBlockBytes) {
    std::memcpy(padded, from, text.size() - at);
    from = padded;
  }
  uint64_t words = 0;
  uint64_t leads = 0;
  for (size_t part = 0; part < kBlockBytes; part += sizeof(uint64_t)) {
    const auto bytes = Load<uint64_t>(from + part);
    words |= WordBits(bytes) << part;
    leads |= LeadBits(bytes);
  }
  return {words, leads != 0};
}

}  // namespace

size_t PackedWordEnd(std::string_view text, size_t begin) {
  const size_t last = std::min(text.size(), begin + kWordBytesMax);
  size_t at = begin;
  while (at < last && !kIsOfWord[ByteAt(text, at)]) ++at;
  if (at < last && ByteAt(text, at) >= kLeadOfWords) {
    ++at;
    while (at < last && (ByteAt(text, at) & 0xc0) == 0x80) ++at;
    return at;
  }
  while (at < last && kIsOfWord[ByteAt(text, at)] && ByteAt(text, at) < kLeadOfWords) ++at;
  return at;
}

std::vector<uint8_t> LearnWords(std::span<const std::string_view> texts) {
  StringTable table;
  std::vector<Counted> counted = CountWords(texts, &table);
  if (counted.empty()) return {};
  // Breaks ties by the words themselves, so that the same texts make the same dictionary.
  std::sort(counted.begin(), counted.end(), [](const Counted& left, const Counted& right) {
    return left.saved() != right.saved() ? left.saved() > right.saved() : left.word < right.word;
  });
  if (counted.size() > kPackedWordsMax) counted.resize(kPackedWordsMax);
  std::sort(counted.begin(), counted.end(), [](const Counted& left, const Counted& right) {
    return left.count != right.count ? left.count > right.count : left.word < right.word;
  });
  std::vector<uint8_t> bytes(kSumBytes);
  AppendInteger(&bytes, kDictionaryFormat);
  AppendInteger(&bytes, static_cast<uint32_t>(counted.size()));
  uint32_t end = 0;
  AppendInteger(&bytes, end);
  for (const Counted& each : counted) AppendInteger(&bytes, end += static_cast<uint32_t>(each.word.size()));
  for (const Counted& each : counted) AppendBytes(&bytes, AsBytes(each.word));
  bytes.resize(bytes.size() + kPaddingBytes);
  Store(bytes.data(), SumOfBytes(std::span(bytes).subspan(kSumBytes)));
  return bytes;
}

bool IsWholeDictionary(std::span<const uint8_t> bytes) {
  if (bytes.size() < kSumBytes || Load<uint64_t>(bytes.data()) != SumOfBytes(bytes.subspan(kSumBytes))) return false;
  try {
    const WordDictionary dictionary(bytes);
    return true;
  } catch (const Error&) {
    // Zeros have the sum of zeros, but are no dictionary.
    return false;
  }
}

WordDictionary::WordDictionary(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  reader.Bytes(kSumBytes);
  const auto format = reader.Integer<uint32_t>();
  count_ = reader.Integer<uint32_t>();
  if (format != kDictionaryFormat || count_ > kPackedWordsMax) throw Error(ErrorCode::kDamaged, "no dictionary of words");
  begins_ = reader.Bytes((count_ + 1) * sizeof(uint32_t)).data();
  if (reader.remaining() < kPaddingBytes) throw Error(ErrorCode::kDamaged, "a dictionary of words that is cut");
  words_ = reader.Bytes(reader.remaining() - kPaddingBytes);
}

std::string_view WordDictionary::Word(size_t number) const {
  if (number >= count_) return {};
  const uint8_t* place = begins_ + number * sizeof(uint32_t);
  const auto begin = Load<uint32_t>(place);
  const auto end = Load<uint32_t>(place + sizeof(uint32_t));
  if (begin > end || end > words_.size()) return {};
  return AsText(words_.subspan(begin, end - begin));
}

bool WordDictionary::Unpack(std::span<const uint8_t> packed, std::span<uint8_t> text) const {
  const uint8_t* from = packed.data();
  const uint8_t* const last = from + packed.size();
  uint8_t* to = text.data();
  uint8_t* const end = to + text.size();
  while (from < last) {
    const uint8_t code = *from++;
    if (code != kLiteral) {
      size_t number = code;
      if (code >= kShortCodes) {
        if (from == last) return false;
        number = kShortCodes + (code - kShortCodes) * size_t{256} + *from++;
      }
      const std::string_view word = Word(number);
      const auto room = static_cast<size_t>(end - to);
      if (word.empty() || word.size() > room) return false;
      // There is padding after the words, and excess bytes are overwritten later.
      if (word.size() <= kPaddingBytes && room >= kPaddingBytes) {
        std::memcpy(to, word.data(), kPaddingBytes);
      } else {
        std::memcpy(to, word.data(), word.size());
      }
      to += word.size();
      continue;
    }
    if (from == last) return false;
    const size_t length = *from++ + size_t{1};
    if (length > static_cast<size_t>(last - from) || length > static_cast<size_t>(end - to)) return false;
    std::memcpy(to, from, length);
    from += length;
    to += length;
  }
  return to == end;
}

WordPacker::WordPacker(const WordDictionary& dictionary)
    : dictionary_(dictionary), seed_(ProcessSeed()), slots_(std::bit_ceil(dictionary.size() * 2 + 1)) {
  for (size_t number = 0; number < dictionary.size(); ++number) {
    const std::string_view word = dictionary.Word(number);
    if (word.empty() || word.size() > kWordBytesMax) continue;
    const Wanted wanted = Want(word, word.data() + word.size());
    Slot& slot = slots_[PlaceOf(wanted, word)];
    if (slot.code_bytes != 0) continue;
    slot = {wanted.first, wanted.second, static_cast<uint16_t>(number), static_cast<uint8_t>(word.size()), 1, {}};
    slot.code[0] = static_cast<uint8_t>(number);
    if (number < kShortCodes) continue;
    slot.code_bytes = 2;
    slot.code[0] = static_cast<uint8_t>(kShortCodes + ((number - kShortCodes) >> 8));
    slot.code[1] = static_cast<uint8_t>(number - kShortCodes);
  }
}

inline WordPacker::Wanted WordPacker::Want(std::string_view word, const char* end) const {
  Wanted wanted{0, 0, 0, static_cast<uint32_t>(word.size())};
  if (word.size() > kPaddingBytes) {
    wanted.first = wanted.hash = HashBytes(word, seed_);
    return wanted;
  }
  if (end - word.data() >= static_cast<ptrdiff_t>(kPaddingBytes)) {
    const Masks& masks = kMasks[word.size()];
    wanted.first = Load<uint64_t>(word.data()) & masks.first;
    wanted.second = Load<uint64_t>(word.data() + sizeof(uint64_t)) & masks.second;
  } else {
    uint8_t padded[kPaddingBytes] = {};
    std::memcpy(padded, word.data(), word.size());
    wanted.first = Load<uint64_t>(padded);
    wanted.second = Load<uint64_t>(padded + sizeof(uint64_t));
  }
  wanted.hash = static_cast<uint32_t>(MixHash(wanted.first ^ seed_, wanted.second ^ kMultiplier));
  return wanted;
}

inline size_t WordPacker::PlaceOf(const Wanted& wanted, std::string_view word) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = wanted.hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.code_bytes == 0) return at;
    if (slot.first != wanted.first || slot.second != wanted.second || slot.bytes != wanted.bytes) continue;
    if (wanted.bytes <= kPaddingBytes || dictionary_.Word(slot.number) == word) return at;
  }
}

// Cuts as PackedWordEnd does, 64 bytes at a time as long as no character is a word by itself. Meanwhile, the table
// slots of the words are prefetched: waiting for them is most of the cost of looking words up.
size_t WordPacker::Cut(std::string_view text) {
  if (wanted_.size() < text.size()) wanted_.resize(text.size());
  Wanted* to = wanted_.data();
  const char* const text_end = text.data() + text.size();
  size_t begin = 0;
  const auto add = [&](size_t end) {
    *to = Want(text.substr(begin, end - begin), text_end);
    __builtin_prefetch(&slots_[to->hash & (slots_.size() - 1)]);
    ++to;
    begin = end;
  };
  const auto cut_to = [&](size_t end) {
    while (end - begin > kWordBytesMax) add(PackedWordEnd(text, begin));
    if (begin < end) add(end);
  };
  uint64_t was_word = 0;
  for (size_t at = 0; at < text.size(); at += kBlockBytes) {
    const Block block = ReadBlock(text, at);
    if (block.has_lead) {
      while (begin < text.size()) add(PackedWordEnd(text, begin));
      break;
    }
    // A word ends before each byte that belongs to no word and follows one that does.
    uint64_t ends = ~block.words & ((block.words << 1) | was_word);
    was_word = block.words >> 63;
    for (; ends != 0; ends &= ends - 1) cut_to(std::min(text.size(), at + static_cast<size_t>(std::countr_zero(ends))));
  }
  cut_to(text.size());
  return static_cast<size_t>(to - wanted_.data());
}

size_t WordPacker::Bound(size_t bytes) {
  // A word of one byte takes two bytes; one that is not in the dictionary takes three, with the literal's header. Codes
  // are written two bytes at a time.
  return 3 * bytes + 1;
}

uint8_t* WordPacker::Pack(std::string_view text, uint8_t* to) {
  const size_t count = Cut(text);
  size_t literal = 0;
  size_t begin = 0;
  for (size_t index = 0; index < count; ++index) {
    const Wanted& wanted = wanted_[index];
    const Slot& slot = slots_[PlaceOf(wanted, text.substr(begin, wanted.bytes))];
    if (slot.code_bytes != 0) {
      if (literal < begin) to = WriteLiteral(text.substr(literal, begin - literal), to);
      literal = begin + wanted.bytes;
      to[0] = slot.code[0];
      to[1] = slot.code[1];
      to += slot.code_bytes;
    }
    begin += wanted.bytes;
  }
  return WriteLiteral(text.substr(literal), to);
}

}  // namespace gannet
