// Texts packed by a dictionary of words that many of them have: one byte for each of the most frequent words, two for the others, and
// what is no word of the dictionary as it is. A word is cut with what stands before it, so that blanks, quotes and the names of JSON
// members are parts of words; each text is packed by itself and unpacked without any other.
//
// A dictionary is bytes, kept on disk as they are (docs/formats.md): u64 checksum of all that follows, u32 format, u32 words,
// u32 × (words + 1) where each word begins and the last ends, the words, kPaddingBytes zeros. A packed text is a string of codes:
//
//   0 to 191            word of this number
//   192 to 254, byte    word 192 + (code − 192) × 256 + byte
//   255, byte n, …      n + 1 bytes as they are
//
// Invariant: unpacking reads and writes within the given bytes, whatever these and the dictionary are. Thread-safety: a dictionary is a
// view of bytes that nobody changes; everything else is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gannet {

// What a dictionary has at most: as many as there are codes.
inline constexpr size_t kPackedWordsMax = 192 + (255 - 192) * 256;

// The end of the word that begins at `begin`, which is before the end of the text.
size_t PackedWordEnd(std::string_view text, size_t begin);

// The words by which most bytes of the texts are saved, as a dictionary; no bytes where no word is worth its place in one. Texts of less
// than 4 GiB.
std::vector<uint8_t> LearnWords(std::span<const std::string_view> texts);

// True for a dictionary as it was learned: every byte of it is looked at, which is done once, when it comes from disk.
bool IsWholeDictionary(std::span<const uint8_t> bytes);

class WordDictionary {
 public:
  // Throws Error(kDamaged) where the bytes are not those of a dictionary; neither its words nor its checksum are looked at.
  explicit WordDictionary(std::span<const uint8_t> bytes);

  size_t size() const { return count_; }
  // Empty for a number that leads out of the words.
  std::string_view Word(size_t number) const;
  // Fills `text` to its end. False where the packed bytes are not those of a text of this length.
  bool Unpack(std::span<const uint8_t> packed, std::span<uint8_t> text) const;

 private:
  const uint8_t* begins_;
  std::span<const uint8_t> words_;  // without the padding
  size_t count_;
};

// Packs by a dictionary, which has to outlive it.
class WordPacker {
 public:
  explicit WordPacker(const WordDictionary& dictionary);
  // What a text of so many bytes takes at most while it is packed.
  static size_t Bound(size_t bytes);
  // Writes the packed text to `to`, where there is room for Bound(text.size()) bytes, and returns its end.
  uint8_t* Pack(std::string_view text, uint8_t* to);

 private:
  // A word as two numbers: its bytes with zeros behind them; of a longer one, its hash, and its number in the dictionary.
  struct Slot {
    uint64_t first = 0;
    uint64_t second = 0;
    uint16_t number = 0;
    uint8_t bytes = 0;
    uint8_t code_bytes = 0;  // none: an empty slot
    uint8_t code[2] = {};
  };
  struct Wanted {
    uint64_t first;
    uint64_t second;
    uint32_t hash;
    uint32_t bytes;
  };

  // `end`: of what may be read behind the word.
  Wanted Want(std::string_view word, const char* end) const;
  // The place of a word, or the empty one where it would be.
  size_t PlaceOf(const Wanted& wanted, std::string_view word) const;
  // Into wanted_; returns how many words there are.
  size_t Cut(std::string_view text);

  const WordDictionary& dictionary_;
  uint64_t seed_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<Wanted> wanted_;
};

}  // namespace gannet
