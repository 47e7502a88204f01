// Analyses and highlights texts, and splits streams into records.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/analysis/analyzer.h"
#include "../kernel/analysis/signed_words.h"
#include "../kernel/analysis/stemmer.h"
#include "../kernel/analysis/word_parts.h"
#include "../kernel/common/json_writer.h"
#include "../kernel/highlight/highlighter.h"
#include "../kernel/highlight/term_matcher.h"
#include "../kernel/query/query_plan.h"
#include "../kernel/text/record_splitter.h"
#include "../kernel/text/word_packing.h"
#include "bindings.h"
#include "call_guard.h"
#include "page_texts.h"
#include "result_memory.h"

namespace gannet::addon {
namespace {

// Converts ascending byte offsets to UTF-16 offsets.
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

// Returns the finest parts of the token, one per place; none if it has none or some place has no indexed part.
Napi::Array FinestParts(Napi::Env env, std::string_view text, const Token& token, WordParts* parts) {
  std::vector<std::string> terms;
  const uint32_t places = parts->Visit(text, token, [&](const WordPart& part) {
    if (!part.is_finest) return;
    terms.resize(std::max<size_t>(terms.size(), part.place + 1));
    terms[part.place] = part.term;
  });
  Napi::Array array = Napi::Array::New(env);
  const auto is_absent = [](const std::string& term) { return term.empty(); };
  if (terms.size() < places || std::ranges::any_of(terms, is_absent)) return array;
  for (const std::string& term : terms) array[array.Length()] = Napi::String::New(env, term);
  return array;
}

Napi::Value AnalyseCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string text = ReadString(info[0], "text");
  Napi::Array tokens = Napi::Array::New(env);
  Utf16Offsets offsets(text);
  Analyzer analyzer;
  analyzer.Reset(text);
  WordParts parts;
  SignedWords signed_words;
  Token token;
  while (analyzer.Next(&token)) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("term", Napi::String::New(env, token.term.data(), token.term.size()));
    object.Set("begin", Napi::Number::New(env, offsets.At(token.begin)));
    object.Set("end", Napi::Number::New(env, offsets.At(token.end)));
    object.Set("position", Napi::Number::New(env, token.position));
    const SignedWord with_signs = signed_words.Find(text, token);
    if (!with_signs.term.empty()) {
      object.Set("signed", Napi::String::New(env, with_signs.term.data(), with_signs.term.size()));
    }
    if (token.may_have_parts) object.Set("parts", FinestParts(env, text, token, &parts));
    tokens[token.position] = object;
  }
  return tokens;
}

Napi::Value StemsCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string text = ReadString(info[0], "text");
  Stemmer& stemmer = ThreadStemmer(ReadString(info[1], "language"));
  Napi::Array stems = Napi::Array::New(env);
  Analyzer analyzer;
  analyzer.Reset(text);
  Token token;
  while (analyzer.Next(&token)) {
    const std::string_view stem = stemmer.Stem(token.term);
    const std::string_view shown = stem.empty() ? std::string_view(token.term) : stem;
    stems[token.position] = Napi::String::New(env, shown.data(), shown.size());
  }
  return stems;
}

Napi::Value StemsRevisionCall(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), StemsRevision(ReadString(info[0], "language")));
}

Napi::Value NeedsSegmentationCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), NeedsDictionarySegmentation(ReadString(info[0], "text")));
}

// Room for the highlights of most pages. They are seldom longer than the texts.
constexpr size_t kHighlightBytesReserved = 16u << 10;

Napi::Value HighlightCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<std::string> field_names = ReadStrings(info[3], "fieldNames");
  const QueryPlan plan = ParsePlan(ReadBytes(info[4], "plan"));
  const TermMatcher matcher(TermsOfPlan(plan));
  const std::string_view texts = ReadText(info[0], "texts");
  const std::span<const uint32_t> ranges = ReadUint32s(info[1], "ranges");
  const std::span<uint32_t> ends = ReadWritableUint32s(info[2], "ends");
  if (ranges.size() != 2 * ends.size()) throw ArgumentError("ranges has to hold a pair for each of ends");
  std::string json;
  json.reserve(std::min(texts.size(), kHighlightBytesReserved));
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t begin = ranges[2 * i];
    const size_t end = ranges[2 * i + 1];
    if (begin > end || end > texts.size()) throw ArgumentError("ranges has to lie within texts");
    const std::string_view fields_json = texts.substr(begin, end - begin);
    if (!FieldsNeedSegmentation(fields_json, field_names)) AppendHighlights(fields_json, field_names, matcher, &json);
    if (json.size() > UINT32_MAX) throw ArgumentError("texts has to be shorter");
    ends[i] = static_cast<uint32_t>(json.size());
  }
  return ResultMemory::MakeBytes(env, std::span(reinterpret_cast<const uint8_t*>(json.data()), json.size()));
}

constexpr size_t kNumbersOfPage = 4;

std::vector<WordDictionary> ReadDictionaries(const Napi::Value& value) {
  if (!value.IsArray()) throw ArgumentError("dictionaries has to be an array");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<WordDictionary> dictionaries;
  for (uint32_t i = 0; i < array.Length(); ++i) dictionaries.emplace_back(ReadBytes(array.Get(i), "dictionaries"));
  return dictionaries;
}

Napi::Value HighlightPagesCall(const Napi::CallbackInfo& info) {
  static thread_local PageTexts pages;
  const Napi::Env env = info.Env();
  const QueryPlan plan = ParsePlan(ReadBytes(info[3], "plan"));
  const TermMatcher matcher(TermsOfPlan(plan));
  const std::span<const uint8_t> texts = ReadBytes(info[0], "texts");
  const std::span<const uint32_t> numbers = ReadUint32s(info[1], "numbers");
  const std::span<uint32_t> ends = ReadWritableUint32s(info[2], "ends");
  const std::vector<WordDictionary> dictionaries = ReadDictionaries(info[4]);
  if (numbers.size() != kNumbersOfPage * ends.size()) throw ArgumentError("numbers has to hold four for each of ends");
  std::string passages;
  for (size_t i = 0; i < ends.size(); ++i) {
    const std::span<const uint32_t> of = numbers.subspan(kNumbersOfPage * i, kNumbersOfPage);
    const size_t begin = of[0];
    const size_t end = of[1];
    if (begin > end || end > texts.size()) throw ArgumentError("numbers has to lie within texts");
    const std::optional<std::string_view> text = pages.Read(texts.subspan(begin, end - begin), {of[2], of[3]}, dictionaries);
    const bool is_to_be_segmented = text.has_value() && NeedsDictionarySegmentation(*text);
    const std::string html = is_to_be_segmented || !text.has_value() ? std::string() : HighlightText(*text, matcher);
    if (!html.empty()) AppendJsonString(html, &passages);
    if (passages.size() >= kHighlightUnreadable) throw ArgumentError("texts has to be shorter");
    const auto marked = static_cast<uint32_t>(passages.size());
    ends[i] = is_to_be_segmented ? kHighlightToBeSegmented : !text.has_value() ? kHighlightUnreadable : marked;
  }
  return ResultMemory::MakeBytes(env, std::span(reinterpret_cast<const uint8_t*>(passages.data()), passages.size()));
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
  const std::string separator = info[2].IsUndefined() ? "," : ReadString(info[2], "csvSeparator");
  if (separator.size() != 1) throw ArgumentError("csvSeparator has to be one ASCII character");
  const std::shared_ptr<RecordSplitter> splitter =
      RecordSplitter::Create(format, ReadSize(info[1], "recordBytesMax"), separator.front());
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
  Define<AnalyseCall>(exports, "analyse");
  Define<StemsCall>(exports, "stems");
  Define<StemsRevisionCall>(exports, "stemsRevision");
  Define<NeedsSegmentationCall>(exports, "needsSegmentation");
  Define<HighlightCall>(exports, "highlight");
  Define<HighlightPagesCall>(exports, "highlightPages");
  Define<CreateRecordSplitterCall>(exports, "createRecordSplitter");
}

}  // namespace gannet::addon
