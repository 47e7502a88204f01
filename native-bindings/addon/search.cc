// Searching a generation.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../kernel/engine/search.h"
#include "../kernel/terms/term_lookup.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "result_memory.h"

namespace gannet::addon {
namespace {

// A number of an optional member.
double ReadMember(const Napi::Object& object, const char* name, double otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsUndefined() ? otherwise : ReadNumber(value, name);
}

bool ReadFlag(const Napi::Object& object, const char* name, bool otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsUndefined() ? otherwise : ReadBoolean(value, name);
}

MeaningRequest ReadMeaning(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "meaning");
  MeaningRequest request;
  request.weight = static_cast<float>(ReadNumber(object.Get("weight"), "meaning.weight"));
  request.floor = static_cast<float>(ReadNumber(object.Get("floor"), "meaning.floor"));
  request.farthest = static_cast<float>(ReadNumber(object.Get("farthest"), "meaning.farthest"));
  request.nearest = static_cast<float>(ReadNumber(object.Get("nearest"), "meaning.nearest"));
  request.wanted = ReadUint32(object.Get("wanted"), "meaning.wanted");
  request.width = ReadUint32(object.Get("width"), "meaning.width");
  request.adds_matches = ReadFlag(object, "adds", true);
  request.exact = ReadFlag(object, "exact", false);
  request.words_full = static_cast<float>(ReadMember(object, "wordsFull", 1));
  const Napi::Value vector = object.Get("vector");
  const std::span<const float> values = ReadFloats(vector, "meaning.vector");
  request.vector.assign(values.begin(), values.end());
  return request;
}

Napi::Value SearchCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  if (!info[2].IsUndefined()) {
    MeaningRequest meaning = ReadMeaning(info[2]);
    return ResultMemory::MakeBytes(
        info.Env(), SearchWithMeaning(*published->generation, ReadBytes(info[1], "plan"), std::move(meaning)));
  }
  return ResultMemory::MakeBytes(info.Env(), Search(*published->generation, ReadBytes(info[1], "plan")));
}

Napi::Value CollectRecordNumbersCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  return MakeUint32s(info.Env(), CollectRecordNumbers(*published->generation, ReadBytes(info[1], "plan")));
}

Napi::Value DocumentFrequenciesCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::vector<std::string> terms = ReadStrings(info[1], "terms");
  const std::vector<std::string_view> views(terms.begin(), terms.end());
  std::vector<uint32_t> frequencies;
  for (const uint64_t frequency : DocumentFrequencies(*published->generation, views)) {
    frequencies.push_back(static_cast<uint32_t>(std::min<uint64_t>(frequency, 0xffffffffu)));
  }
  return MakeUint32s(info.Env(), frequencies);
}

}  // namespace

void DefineSearch(Napi::Object exports) {
  Define<SearchCall>(exports, "search");
  Define<CollectRecordNumbersCall>(exports, "collectRecordNumbers");
  Define<DocumentFrequenciesCall>(exports, "documentFrequencies");
}

}  // namespace gannet::addon
