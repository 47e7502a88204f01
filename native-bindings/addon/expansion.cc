// Maps query words to the terms that they may stand for.
#include "../kernel/terms/word_expander.h"

#include <memory>
#include <string>
#include <vector>

#include "../kernel/terms/compound_lookup.h"
#include "../kernel/terms/expansion_names.h"
#include "../kernel/terms/new_terms.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

Napi::Array MakeTerms(Napi::Env env, const std::vector<TermMatch>& matches) {
  Napi::Array terms = Napi::Array::New(env, matches.size());
  for (uint32_t i = 0; i < matches.size(); ++i) {
    Napi::Object term = Napi::Object::New(env);
    term.Set("term", Napi::String::New(env, matches[i].term));
    term.Set("documentFrequency", Napi::Number::New(env, static_cast<double>(matches[i].document_frequency)));
    term.Set("distance", Napi::Number::New(env, matches[i].distance));
    terms[i] = term;
  }
  return terms;
}

// The arguments of an expansion, as ExpandOptions in index.ts.
struct Question {
  std::shared_ptr<const PublishedGeneration> published;
  std::vector<std::string> words;
  std::vector<uint32_t> edits;
  ExpansionLimits limits;
};

Question ReadQuestion(const Napi::CallbackInfo& info) {
  Question question;
  question.published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  question.words = ReadStrings(info[1], "words");
  const Napi::Object options = ReadObject(info[2], "options");
  const Napi::Array edits = ReadArray(options.Get("editsMax"), "editsMax");
  const uint32_t count = edits.Length();
  for (uint32_t i = 0; i < count; ++i) question.edits.push_back(ReadUint32(edits[i], "an element of editsMax"));
  question.limits = {ReadUint32(options.Get("stemsMax"), "stemsMax"), ReadUint32(options.Get("typosMax"), "typosMax"),
                     ReadUint32(options.Get("prefixesMax"), "prefixesMax"),
                     ReadUint32(options.Get("compoundsMax"), "compoundsMax")};
  return question;
}

Napi::Value ExpandCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Question asked = ReadQuestion(info);
  const std::vector<WordExpansion> expansions = ReadWholly(*asked.published, [&] {
    return ExpandWords(*asked.published->generation, asked.words, asked.edits, asked.limits);
  });
  Napi::Array result = Napi::Array::New(env, expansions.size());
  for (uint32_t i = 0; i < expansions.size(); ++i) {
    Napi::Object word = Napi::Object::New(env);
    const auto frequency = static_cast<double>(expansions[i].document_frequency);
    word.Set("documentFrequency", Napi::Number::New(env, frequency));
    word.Set("stems", MakeTerms(env, expansions[i].stems));
    word.Set("typos", MakeTerms(env, expansions[i].typos));
    word.Set("prefixes", MakeTerms(env, expansions[i].prefixes));
    word.Set("compounds", MakeTerms(env, expansions[i].compounds));
    result[i] = word;
  }
  return result;
}

Napi::Value NameExpansionsCall(const Napi::CallbackInfo& info) {
  const Question asked = ReadQuestion(info);
  const std::vector<uint64_t> names = ReadWholly(*asked.published, [&] {
    return NameExpansions(*asked.published->generation, asked.words, asked.edits, asked.limits);
  });
  Napi::Float64Array result = Napi::Float64Array::New(info.Env(), names.size());
  for (size_t i = 0; i < names.size(); ++i) result[i] = static_cast<double>(names[i]);
  return result;
}

Napi::Value VocabularyCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const Vocabulary& vocabulary = published->generation->vocabulary;
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("name", Napi::Number::New(info.Env(), static_cast<double>(vocabulary.name)));
  result.Set("root", Napi::Number::New(info.Env(), static_cast<double>(vocabulary.root)));
  return result;
}

Napi::Value AffectedWordsCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::vector<std::string> words = ReadStrings(info[1], "words");
  const Napi::Array given_edits = ReadArray(info[2], "editsMax");
  const Napi::Array given_names = ReadArray(info[3], "vocabularies");
  std::vector<uint32_t> edits;
  for (uint32_t i = 0; i < given_edits.Length(); ++i) edits.push_back(ReadUint32(given_edits[i], "an element of editsMax"));
  std::vector<uint64_t> names;
  for (uint32_t i = 0; i < given_names.Length(); ++i) {
    const double name = ReadNumber(given_names[i], "an element of vocabularies");
    names.push_back(name > 0 && name < 0x1p53 ? static_cast<uint64_t>(name) : 0);  // 0 is no vocabulary's name
  }
  const std::vector<bool> affected = ReadWholly(*published, [&] {
    return FindAffectedWords(*published->generation, words, edits, names);
  });
  Napi::Uint8Array result = Napi::Uint8Array::New(info.Env(), affected.size());
  for (size_t i = 0; i < affected.size(); ++i) result[i] = affected[i] ? 1 : 0;
  return result;
}

Napi::Value NewTermsCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const auto segment = Registry::Instance().FindSegment(ReadUint32(info[1], "segment"));
  const auto terms = ReadWholly(*published, [&] {
    return ReadWholly(*segment, [&] { return FindNewTerms(*published->generation, *segment); });
  });
  if (!terms) return info.Env().Undefined();
  return MakeStrings(info.Env(), *terms);
}

Napi::Value LostTermsCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  std::vector<MergeSource> sources;
  const Napi::Array handles = ReadArray(info[1], "segments");
  const uint32_t count = handles.Length();
  for (uint32_t i = 0; i < count; ++i) {
    sources.push_back({Registry::Instance().FindSegment(ReadUint32(handles[i], "an element of segments")), {}});
  }
  const auto terms = ReadWholly(*published, [&] {
    auto lost = FindLostTerms(*published->generation, sources);
    for (const MergeSource& source : sources) RequireReadable(*source.segment);
    return lost;
  });
  if (!terms) return info.Env().Undefined();
  return MakeStrings(info.Env(), *terms);
}

}  // namespace

void DefineExpansion(Napi::Object exports) {
  Define<ExpandCall>(exports, "expand");
  Define<NameExpansionsCall>(exports, "nameExpansions");
  Define<VocabularyCall>(exports, "vocabulary");
  Define<AffectedWordsCall>(exports, "affectedWords");
  Define<NewTermsCall>(exports, "newTerms");
  Define<LostTermsCall>(exports, "lostTerms");
}

}  // namespace gannet::addon
