// Packs texts with a dictionary of words that many of them have: one byte for each of the most frequent words, two for
// the others; the rest is stored as is. A word includes what precedes it, so that blanks, quotes and the names of JSON
// members are parts of words. Each text is packed and can be unpacked independently of the others.
//
// A dictionary is stored on disk unchanged (docs/formats.md): u64 checksum of all that follows, u32 format, u32 number of
// words, u32 × (words + 1) where each word begins and the last one ends, the words, kPaddingBytes zeros. A packed text is
// a string of codes:
//
//   0 to 191            word of this number
//   192 to 254, byte    word 192 + (code − 192) × 256 + byte
//   255, byte n, …      n + 1 literal bytes
//
// Invariant: unpacking reads and writes only the given bytes, whatever they and the dictionary contain. Thread-safety:
// a dictionary is a view of bytes that must not change; everything else is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gannet {

// Maximum number of words of a dictionary: the number of codes.
inline constexpr size_t kPackedWordsMax = 192 + (255 - 192) * 256;

// Returns the end of the word that begins at `begin`, which must be before the end of the text.
size_t PackedWordEnd(std::string_view text, size_t begin);

// Returns a dictionary of the words that save most bytes of the texts; no bytes if no word is worth its place. The
// texts must have less than 4 GiB.
std::vector<uint8_t> LearnWords(std::span<const std::string_view> texts);

// Returns true if the bytes are a dictionary as LearnWords made it. Reads every byte; to be called once, when it is
// read from disk.
bool IsWholeDictionary(std::span<const uint8_t> bytes);

class WordDictionary {
 public:
  // Throws Error(kDamaged) if the bytes do not have the form of a dictionary; its words and its checksum are not
  // checked.
  explicit WordDictionary(std::span<const uint8_t> bytes);

  size_t size() const { return count_; }
  // Returns an empty text if there is no word of this number.
  std::string_view Word(size_t number) const;
  // Fills `text` to its end. Returns false if the packed bytes are not those of a text of this length.
  bool Unpack(std::span<const uint8_t> packed, std::span<uint8_t> text) const;

 private:
  const uint8_t* begins_;
  std::span<const uint8_t> words_;  // without the padding
  size_t count_;
};

// Packs texts with a dictionary, which must outlive the packer.
class WordPacker {
 public:
  explicit WordPacker(const WordDictionary& dictionary);
  // Returns the most bytes that a text of this size can take while it is packed.
  static size_t Bound(size_t bytes);
  // Writes the packed text to `to`, which must have room for Bound(text.size()) bytes, and returns its end.
  uint8_t* Pack(std::string_view text, uint8_t* to);

 private:
  // A word as two numbers: its bytes, padded with zeros, if it is short; else its hash and its number in the
  // dictionary.
  struct Slot {
    uint64_t first = 0;
    uint64_t second = 0;
    uint16_t number = 0;
    uint8_t bytes = 0;
    uint8_t code_bytes = 0;  // 0: an empty slot
    uint8_t code[2] = {};
  };
  struct Wanted {
    uint64_t first;
    uint64_t second;
    uint32_t hash;
    uint32_t bytes;
  };

  // `end` is the end of what may be read after the word.
  Wanted Want(std::string_view word, const char* end) const;
  // Returns the slot of a word, or the empty one where it would be.
  size_t PlaceOf(const Wanted& wanted, std::string_view word) const;
  // Cuts the text into wanted_ and returns the number of words.
  size_t Cut(std::string_view text);

  const WordDictionary& dictionary_;
  uint64_t seed_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<Wanted> wanted_;
};

}  // namespace gannet
