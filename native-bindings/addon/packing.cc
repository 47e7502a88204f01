// Packs records with the words of their list.
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "../kernel/text/record_packing.h"
#include "../kernel/text/word_packing.h"
#include "arguments.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

Napi::Value LearnWordsCall(const Napi::CallbackInfo& info) {
  const std::string_view bytes = ReadText(info[0], "texts");
  const std::span<const uint32_t> begins = ReadUint32s(info[1], "begins");
  const std::span<const uint32_t> ends = ReadUint32s(info[2], "ends");
  if (begins.size() != ends.size()) throw ArgumentError("each text has to have a begin and an end");
  std::vector<std::string_view> texts;
  texts.reserve(ends.size());
  for (size_t index = 0; index < ends.size(); ++index) {
    if (begins[index] > ends[index] || ends[index] > bytes.size()) throw ArgumentError("texts have to lie in their bytes");
    texts.push_back(bytes.substr(begins[index], ends[index] - begins[index]));
  }
  return MakeBytes(info.Env(), LearnWords(texts));
}

Napi::Value AreWordsCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), IsWholeDictionary(ReadBytes(info[0], "dictionary")));
}

Napi::Value PackRecordsCall(const Napi::CallbackInfo& info) {
  const WordDictionary dictionary(ReadBytes(info[0], "dictionary"));
  const double number = ReadNumber(info[1], "number");
  if (!(number >= 0 && number <= UINT8_MAX)) throw ArgumentError("number has to fit into a byte");
  const std::span<uint8_t> records = ReadWritableBytes(info[2], "records");
  const RecordPlaces places{ReadUint32s(info[3], "fields"), ReadWritableUint32s(info[4], "ends")};
  const size_t bytes = PackRecords(dictionary, static_cast<uint8_t>(number), records, places);
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

constexpr size_t kNumbersOfText = 5;

Napi::Value UnpackWordsCall(const Napi::CallbackInfo& info) {
  const WordDictionary dictionary(ReadBytes(info[0], "dictionary"));
  const std::span<const uint8_t> bytes = ReadBytes(info[1], "bytes");
  const std::span<const uint32_t> numbers = ReadUint32s(info[2], "ranges");
  const std::span<uint8_t> texts = ReadWritableBytes(info[3], "texts");
  size_t at = 0;
  for (; at + kNumbersOfText <= numbers.size(); at += kNumbersOfText) {
    const size_t begin = numbers[at], packed = numbers[at + 1], end = numbers[at + 2];
    const size_t to = numbers[at + 3], to_end = numbers[at + 4];
    if (begin > packed || packed > end || end > bytes.size() || to > to_end || to_end > texts.size() ||
        packed - begin > to_end - to) {
      throw ArgumentError("ranges have to be in bytes and texts");
    }
    const size_t plain = packed - begin;
    if (plain > 0) std::memcpy(texts.data() + to, bytes.data() + begin, plain);
    if (!dictionary.Unpack(bytes.subspan(packed, end - packed), texts.subspan(to + plain, to_end - to - plain))) break;
  }
  return Napi::Number::New(info.Env(), static_cast<double>(at / kNumbersOfText));
}

}  // namespace

void DefinePacking(Napi::Object exports) {
  Define<LearnWordsCall>(exports, "learnWords");
  Define<AreWordsCall>(exports, "areWords");
  Define<PackRecordsCall>(exports, "packRecords");
  Define<UnpackWordsCall>(exports, "unpackWords");
}

}  // namespace gannet::addon
