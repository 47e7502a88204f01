// Fuzzes packing by dictionaries: reads arbitrary bytes as dictionary and packed text, and checks that texts and records are unchanged by packing and
// unpacking, also with arbitrary places of records.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../kernel/common/bytes.h"
#include "../kernel/common/error.h"
#include "../kernel/text/record_packing.h"
#include "../kernel/text/word_packing.h"
#include "fuzz_target.h"

namespace {

using gannet::AsBytes;
using gannet::WordDictionary;
using gannet::WordPacker;

constexpr size_t kTextBytesMax = 4096;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::vector<uint8_t> Packed(const WordDictionary& dictionary, std::string_view text) {
  std::vector<uint8_t> packed(WordPacker::Bound(text.size()));
  const uint8_t* end = WordPacker(dictionary).Pack(text, packed.data());
  Require(end <= packed.data() + packed.size());
  packed.resize(static_cast<size_t>(end - packed.data()));
  return packed;
}

// Cuts the bytes into records, by their values, packs these, and checks that each is kept. Some records have no fields.
void PackAsRecords(const WordDictionary& dictionary, std::span<const uint8_t> bytes) {
  std::vector<uint32_t> fields, ends;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min<size_t>(bytes.size(), at + bytes[at] % 64 + 1);
    fields.push_back(static_cast<uint32_t>(std::min(end, at + bytes[at] % 7)));
    ends.push_back(static_cast<uint32_t>(end));
    at = end;
  }
  std::vector<uint8_t> packed(bytes.begin(), bytes.end());
  const std::vector<uint32_t> before = ends;
  const size_t end = gannet::PackRecords(dictionary, 1, packed, {fields, ends});
  Require(end == (ends.empty() ? 0 : ends.back()));
  for (size_t index = 0, at = 0, begin = 0; index < ends.size(); begin = ends[index], at = before[index], ++index) {
    Require(begin <= ends[index] && ends[index] - begin <= before[index] - at);
    const std::span<const uint8_t> record = bytes.subspan(at, before[index] - at);
    const std::span<const uint8_t> kept = std::span(packed).subspan(begin, ends[index] - begin);
    if (kept.size() == record.size()) {
      Require(std::ranges::equal(kept, record));
      continue;
    }
    Require(kept[0] == gannet::kPackedRecordFormat && kept[1] == 1);
    gannet::ByteReader reader(kept.subspan(2));
    const auto plain = reader.Varint();
    Require(plain == fields[index] - at && reader.Varint() == record.size());
    Require(std::ranges::equal(reader.Bytes(plain), record.first(plain)));
    std::vector<uint8_t> text(record.size() - plain);
    Require(dictionary.Unpack(reader.Bytes(reader.remaining()), text));
    Require(std::ranges::equal(text, record.subspan(plain)));
  }
  // Arbitrary places are refused, unless they happen to be valid.
  for (uint32_t& place : ends) place = place * 7 % static_cast<uint32_t>(bytes.size() + 2);
  try {
    gannet::PackRecords(dictionary, 1, packed, {fields, ends});
  } catch (const gannet::Error&) {
    // The places are refused before anything is written.
  }
}

// Learns a dictionary from the first half, repeated so that its words pay, and packs the second half with it.
void PackAndUnpack(std::string_view bytes) {
  const std::string_view texts[] = {bytes.substr(0, bytes.size() / 2), bytes.substr(bytes.size() / 2)};
  const std::vector<std::string_view> learnable(4, texts[0]);
  const std::vector<uint8_t> learned = gannet::LearnWords(learnable);
  if (learned.empty()) return;
  Require(gannet::IsWholeDictionary(learned));
  const WordDictionary dictionary(learned);
  const std::vector<uint8_t> packed = Packed(dictionary, texts[1]);
  std::vector<uint8_t> text(texts[1].size());
  Require(dictionary.Unpack(packed, text));
  Require(std::ranges::equal(text, AsBytes(texts[1])));
  PackAsRecords(dictionary, AsBytes(bytes));
}

// Reads the bytes as u16 size, dictionary and packed text, and unpacks the text.
void UnpackAnything(std::span<const uint8_t> bytes) {
  if (bytes.size() < 2) return;
  gannet::IsWholeDictionary(bytes);
  const size_t cut = std::min<size_t>(gannet::Load<uint16_t>(bytes.data()), bytes.size() - 2);
  try {
    const WordDictionary dictionary(bytes.subspan(2, cut));
    std::vector<uint8_t> text(bytes.size() % kTextBytesMax);
    dictionary.Unpack(bytes.subspan(2 + cut), text);
    for (size_t number = 0; number <= dictionary.size(); ++number) Require(dictionary.Word(number).size() <= bytes.size());
  } catch (const gannet::Error&) {
    // Garbage must be refused without reading out of bounds.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PackAndUnpack({reinterpret_cast<const char*>(data), size});
  UnpackAnything({data, size});
  return 0;
}

namespace gannet::fuzz {

std::vector<Input> Seeds() {
  const std::string text =
      "{\"text\":\"the cat and the dog and the cat\",\"of\":[\"cats\"]}{\"text\":\"the dog and the bird\",\"of\":[\"dogs\"]}";
  const std::vector<uint8_t> learned = LearnWords(std::vector<std::string_view>(4, text));
  const WordDictionary dictionary(learned);
  const std::vector<uint8_t> packed = Packed(dictionary, "the cat and another dog");
  Input input;
  AppendInteger(&input, static_cast<uint16_t>(learned.size()));
  AppendBytes(&input, learned);
  AppendBytes(&input, packed);
  return {Input(text.begin(), text.end()), input};
}

}  // namespace gannet::fuzz
