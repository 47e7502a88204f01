// Suggests what a partly typed text may mean: names of records, and words.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../kernel/terms/completion_lookup.h"
#include "../kernel/terms/context_count.h"
#include "../kernel/terms/first_records.h"
#include "../kernel/terms/name_lookup.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

Napi::String MakeString(Napi::Env env, const std::string& text) { return Napi::String::New(env, text); }

const char* NameOf(NameMatchKind kind) {
  switch (kind) {
    case NameMatchKind::kStart: return "start";
    case NameMatchKind::kWord: return "word";
    case NameMatchKind::kTypo: return "typo";
  }
  return "";
}

Napi::Value SuggestNamesCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::string column = ReadString(info[1], "column");
  const std::string prefix = ReadString(info[2], "prefix");
  const uint32_t edits = ReadUint32(info[3], "edits");
  const uint32_t limit = ReadUint32(info[4], "limit");
  const std::vector<NameMatch> matches =
      ReadWholly(*published, [&] { return FindNames(*published->generation, column, prefix, edits, limit); });
  Napi::Array result = Napi::Array::New(env, matches.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    Napi::Object match = Napi::Object::New(env);
    match.Set("name", MakeString(env, matches[i].display));
    match.Set("kind", Napi::String::New(env, NameOf(matches[i].kind)));
    match.Set("distance", Napi::Number::New(env, matches[i].distance));
    match.Set("isShared", Napi::Boolean::New(env, matches[i].is_shared));
    result[static_cast<uint32_t>(i)] = match;
  }
  return result;
}

Napi::Value CompleteWordCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::string prefix = ReadString(info[1], "prefix");
  const uint32_t edits = ReadUint32(info[2], "edits");
  const uint32_t limit = ReadUint32(info[3], "limit");
  const std::vector<TermMatch> matches =
      ReadWholly(*published, [&] { return CompleteWord(*published->generation, prefix, edits, limit); });
  Napi::Array result = Napi::Array::New(env, matches.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    Napi::Object match = Napi::Object::New(env);
    match.Set("term", MakeString(env, matches[i].term));
    match.Set("documentFrequency", Napi::Number::New(env, static_cast<double>(matches[i].document_frequency)));
    match.Set("distance", Napi::Number::New(env, matches[i].distance));
    result[static_cast<uint32_t>(i)] = match;
  }
  return result;
}

Napi::Value CountInContextCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const Napi::Array words = ReadArray(info[1], "context");
  std::vector<ContextWord> context;
  const uint32_t word_count = words.Length();
  for (uint32_t i = 0; i < word_count; ++i) context.push_back(ReadStrings(words[i], "an element of context"));
  const std::vector<std::string> completions = ReadStrings(info[2], "completions");
  const uint32_t wanted = ReadUint32(info[3], "wanted");
  const ContextCounts counts =
      ReadWholly(*published, [&] { return CountInContext(*published->generation, context, completions, wanted); });
  std::vector<uint32_t> numbers;
  for (const uint64_t count : counts.completions) numbers.push_back(static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("context", Napi::Number::New(info.Env(), static_cast<double>(counts.context)));
  result.Set("completions", MakeUint32s(info.Env(), numbers));
  return result;
}

Napi::Value FirstRecordsCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::string term = ReadString(info[1], "term");
  const uint32_t limit = ReadUint32(info[2], "limit");
  const std::vector<uint32_t> numbers =
      ReadWholly(*published, [&] { return FirstRecords(*published->generation, term, limit); });
  return MakeUint32s(info.Env(), numbers);
}

}  // namespace

void DefineSuggest(Napi::Object exports) {
  Define<SuggestNamesCall>(exports, "suggestNames");
  Define<CompleteWordCall>(exports, "completeWord");
  Define<CountInContextCall>(exports, "countInContext");
  Define<FirstRecordsCall>(exports, "firstRecords");
}

}  // namespace gannet::addon
