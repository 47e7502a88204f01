// Analysis, highlighting and the splitting of record streams.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/analysis/analyzer.h"
#include "../kernel/highlight/highlighter.h"
#include "../kernel/highlight/term_matcher.h"
#include "../kernel/text/record_splitter.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

// One an environment.
struct TextData {
  // The terms that the last matcher was made from. Only frozen arrays get here, so what they hold cannot have changed.
  Napi::Reference<Napi::Array> terms;
  Napi::Reference<Napi::Array> phrases;
  std::shared_ptr<const TermMatcher> matcher;
  Napi::FunctionReference is_frozen;
};

// Counts UTF-16 units of ascending byte offsets.
class Utf16Offsets {
 public:
  explicit Utf16Offsets(std::string_view text) : text_(text) {}

  uint32_t At(size_t offset) {
    for (; at_ < offset; ++at_) {
      const auto byte = static_cast<uint8_t>(text_[at_]);
      units_ += (byte & 0xc0) != 0x80;  // a character is one unit,
      units_ += byte >= 0xf0;           // or two beyond the basic plane
    }
    return units_;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  uint32_t units_ = 0;
};

Napi::Value AnalyseCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string text = ReadString(info[0], "text");
  Napi::Array tokens = Napi::Array::New(env);
  Utf16Offsets offsets(text);
  Analyzer analyzer;
  analyzer.Reset(text);
  Token token;
  while (analyzer.Next(&token)) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("term", Napi::String::New(env, token.term.data(), token.term.size()));
    object.Set("begin", Napi::Number::New(env, offsets.At(token.begin)));
    object.Set("end", Napi::Number::New(env, offsets.At(token.end)));
    object.Set("position", Napi::Number::New(env, token.position));
    tokens[token.position] = object;
  }
  return tokens;
}

Napi::Value NeedsSegmentationCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), NeedsDictionarySegmentation(ReadString(info[0], "text")));
}

bool IsDeeplyFrozen(TextData* data, const Napi::Array& array) {
  const auto is_frozen = [data](const Napi::Value& value) { return data->is_frozen.Call({value}).ToBoolean().Value(); };
  if (!is_frozen(array)) return false;
  const uint32_t length = array.Length();
  for (uint32_t i = 0; i < length; ++i) {
    const Napi::Value element = array[i];
    if (element.IsObject() && !is_frozen(element)) return false;
  }
  return true;
}

// Making a matcher costs more than highlighting a record with it, and the hits of an answer share their terms.
std::shared_ptr<const TermMatcher> FindMatcher(Napi::Env env, const Napi::Value& terms_value,
                                               const Napi::Value& phrases_value) {
  auto* data = env.GetInstanceData<TextData>();
  const Napi::Array terms_array = ReadArray(terms_value, "terms");
  const Napi::Array phrases_array = ReadArray(phrases_value, "phrases");
  if (data->matcher && data->terms.Value().StrictEquals(terms_array) &&
      data->phrases.Value().StrictEquals(phrases_array)) {
    return data->matcher;
  }
  HighlightTerms terms;
  for (std::string& term : ReadStrings(terms_array, "terms")) terms.terms.insert(std::move(term));
  const uint32_t phrase_count = phrases_array.Length();
  for (uint32_t i = 0; i < phrase_count; ++i) terms.phrases.push_back(ReadStrings(phrases_array[i], "a phrase"));
  auto matcher = std::make_shared<const TermMatcher>(terms);
  if (IsDeeplyFrozen(data, terms_array) && IsDeeplyFrozen(data, phrases_array)) {
    data->terms = Napi::Persistent(terms_array);
    data->phrases = Napi::Persistent(phrases_array);
    data->matcher = matcher;
  }
  return matcher;
}

Napi::Value HighlightCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<std::string> field_names = ReadStrings(info[1], "fieldNames");
  const std::shared_ptr<const TermMatcher> matcher = FindMatcher(env, info[2], info[3]);
  const std::string_view fields_json = ReadText(info[0], "fieldsJson");
  if (FieldsNeedSegmentation(fields_json, field_names)) return env.Null();
  return Napi::String::New(env, HighlightFields(fields_json, field_names, *matcher));
}

Napi::Value MakeRecords(Napi::Env env, const SplitRecords& records) {
  if (records.ends.empty()) return env.Null();
  Napi::Object result = Napi::Object::New(env);
  const auto* bytes = reinterpret_cast<const uint8_t*>(records.bytes.data());
  result.Set("bytes", MakeBytes(env, std::span<const uint8_t>(bytes, records.bytes.size())));
  result.Set("ends", MakeUint32s(env, records.ends));
  result.Set("lines", MakeUint32s(env, records.lines));
  return result;
}

Napi::Value CreateRecordSplitterCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string name = ReadString(info[0], "format");
  RecordFormat format = RecordFormat::kNdjson;
  if (name == "json") {
    format = RecordFormat::kJson;
  } else if (name == "csv") {
    format = RecordFormat::kCsv;
  } else if (name != "ndjson") {
    throw ArgumentError("format has to be ndjson, json or csv");
  }
  const std::shared_ptr<RecordSplitter> splitter =
      RecordSplitter::Create(format, ReadSize(info[1], "recordBytesMax"));
  Napi::Object object = Napi::Object::New(env);
  object.Set("push", Napi::Function::New(env, [splitter](const Napi::CallbackInfo& call) {
    return GuardCall(call.Env(),
                     [&] { return MakeRecords(call.Env(), splitter->Push(ReadText(call[0], "chunk"))); });
  }));
  object.Set("end", Napi::Function::New(env, [splitter](const Napi::CallbackInfo& call) {
    return GuardCall(call.Env(), [&] { return MakeRecords(call.Env(), splitter->End()); });
  }));
  return object;
}

}  // namespace

void DefineText(Napi::Object exports) {
  Napi::Env env = exports.Env();
  auto data = std::make_unique<TextData>();
  const auto is_frozen = env.Global().Get("Object").As<Napi::Object>().Get("isFrozen").As<Napi::Function>();
  data->is_frozen = Napi::Persistent(is_frozen);
  env.SetInstanceData<TextData>(data.release());
  Define<AnalyseCall>(exports, "analyse");
  Define<NeedsSegmentationCall>(exports, "needsSegmentation");
  Define<HighlightCall>(exports, "highlight");
  Define<CreateRecordSplitterCall>(exports, "createRecordSplitter");
}

}  // namespace gannet::addon
