// Searching a generation.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../kernel/engine/search.h"
#include "../kernel/terms/term_lookup.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "result_memory.h"

namespace gannet::addon {
namespace {

Napi::Value SearchCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
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
