// Tests that texts are unchanged by packing and unpacking, and that damaged bytes are reported.
#include "../kernel/text/word_packing.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../kernel/common/bytes.h"
#include "check.h"

namespace gannet {
namespace {

std::vector<uint8_t> Packed(const WordDictionary& dictionary, std::string_view text) {
  std::vector<uint8_t> packed(WordPacker::Bound(text.size()));
  const uint8_t* end = WordPacker(dictionary).Pack(text, packed.data());
  packed.resize(static_cast<size_t>(end - packed.data()));
  return packed;
}

std::string Unpacked(const WordDictionary& dictionary, std::span<const uint8_t> packed, size_t bytes) {
  std::vector<uint8_t> text(bytes);
  return dictionary.Unpack(packed, text) ? std::string(AsText(text)) : "damaged";
}

std::vector<uint8_t> Learned(const std::vector<std::string>& texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return LearnWords(views);
}

TEST(words_include_the_characters_before_them) {
  const auto words = [](std::string_view text) {
    std::string result;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = PackedWordEnd(text, begin);
      CHECK(end > begin && end <= text.size());
      result.append(text.substr(begin, end - begin)).append("|");
      begin = end;
    }
    return result;
  };
  CHECK_EQ(words("{\"text\":\"the cats\"}"), "{\"text|\":\"the| cats|\"}|");
  CHECK_EQ(words("naïve Żółw, 12"), "naïve| Żółw|, 12|");
  CHECK_EQ(words("«日本語» is"), "«|日|本|語|»| is|");
  CHECK_EQ(words(std::string(50, 'a')), std::string(40, 'a') + "|" + std::string(10, 'a') + "|");
}

TEST(texts_are_unchanged_by_packing) {
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {"the", " cat", ", and", "日", "ł", "\xff", "\"", "{\"a\":", "]", " ", "supercalifragilistic"};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> texts;
    for (int count = 0; count < 20; ++count) {
      std::string text;
      for (size_t left = random() % 60; left > 0; --left) text.append(pieces[random() % pieces.size()]);
      // Adds unknown bytes, sometimes more than one literal holds.
      if (count % 5 == 0) text.append(std::string(random() % 700, static_cast<char>(random())));
      texts.push_back(text);
    }
    const std::vector<uint8_t> bytes = Learned(texts);
    CHECK_EQ(bytes, Learned(texts));
    const WordDictionary dictionary(bytes);
    for (const std::string& text : texts) CHECK_EQ(Unpacked(dictionary, Packed(dictionary, text), text.size()), text);
  }
}

TEST(frequent_words_take_one_byte_and_others_two) {
  std::vector<std::string> texts;
  for (int number = 0; number < 400; ++number) {
    const std::string word = " word" + std::to_string(number);
    texts.push_back(word + word + word + " often");
  }
  const std::vector<uint8_t> bytes = Learned(texts);
  const WordDictionary dictionary(bytes);
  CHECK_EQ(dictionary.size(), size_t{401});
  CHECK_EQ(dictionary.Word(0), " often");
  CHECK_EQ(Packed(dictionary, " often often").size(), size_t{2});
  CHECK_EQ(Packed(dictionary, " word399").size(), size_t{2});
  CHECK_EQ(Packed(dictionary, " never").size(), size_t{2 + 6});
  // Words may be anywhere in the 64 bytes that are scanned together.
  for (size_t before = 0; before < 140; ++before) {
    const std::string text = std::string(before, '.') + "never often word300 often word7";
    CHECK_EQ(Packed(dictionary, text).size(), 2 + before + 5 + 1 + 2 + 1 + 2);
    CHECK_EQ(Packed(dictionary, text + "日").size(), 2 + before + 5 + 1 + 2 + 1 + 2 + 2 + 3);
  }
  CHECK_EQ(Learned({"each word once"}).size(), size_t{0});
  // A word is not learned if it saves less than it takes in the dictionary.
  CHECK_EQ(Learned({"words", "words"}).size(), size_t{0});
}

TEST(damaged_packed_texts_and_dictionaries_are_reported) {
  const std::vector<uint8_t> bytes = Learned({"the cat and the dog and the cat", "a dog and a cat and a bird"});
  const WordDictionary dictionary(bytes);
  const std::string text = "the cat and a horse";
  const std::vector<uint8_t> packed = Packed(dictionary, text);
  CHECK_EQ(Unpacked(dictionary, packed, text.size() + 1), "damaged");
  CHECK_EQ(Unpacked(dictionary, packed, text.size() - 1), "damaged");
  CHECK_EQ(Unpacked(dictionary, std::span(packed).first(packed.size() - 1), text.size()), "damaged");
  CHECK_EQ(Unpacked(dictionary, std::vector<uint8_t>{254, 255}, 4), "damaged");
  CHECK_EQ(Unpacked(dictionary, std::vector<uint8_t>{192}, 4), "damaged");
  CHECK_EQ(Unpacked(dictionary, std::vector<uint8_t>{255}, 4), "damaged");
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    try {
      const WordDictionary damaged(cut);
      Unpacked(damaged, packed, text.size());
    } catch (const Error& error) {
      CHECK_EQ(error.code(), ErrorCode::kDamaged);
    }
  }
  CHECK_THROWS(kDamaged, WordDictionary(std::vector<uint8_t>(64, 9)));
  CHECK(IsWholeDictionary(bytes));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= static_cast<uint8_t>(1u << (at % 8));
    CHECK(!IsWholeDictionary(damaged));
    CHECK(!IsWholeDictionary(std::span(bytes).first(at)));
  }
  CHECK(!IsWholeDictionary(std::vector<uint8_t>(64)));
}

}  // namespace
}  // namespace gannet
