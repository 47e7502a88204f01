// Searching a generation.
#include <vector>

#include "bindings.h"
#include "call_guard.h"
#include "registry.h"

namespace gannet::addon {
namespace {

Napi::Value SearchCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  return MakeBytes(info.Env(), Search(*published->generation, ReadBytes(info[1], "plan")));
}

Napi::Value CollectRecordNumbersCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  return MakeUint32s(info.Env(), CollectRecordNumbers(*published->generation, ReadBytes(info[1], "plan")));
}

Napi::Value DocumentFrequenciesCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  std::vector<uint32_t> frequencies;
  for (const std::string& term : ReadStrings(info[1], "terms")) {
    uint64_t frequency = 0;
    for (const SegmentView& view : published->generation->segments) {
      frequency += view.segment->FindTerm(term).document_frequency();
    }
    frequencies.push_back(frequency > 0xffffffffu ? 0xffffffffu : static_cast<uint32_t>(frequency));
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
