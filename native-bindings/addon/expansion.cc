// Query words to the terms that they may stand for.
#include "../kernel/terms/word_expander.h"

#include <string>
#include <vector>

#include "bindings.h"
#include "call_guard.h"
#include "registry.h"

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

Napi::Value ExpandCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::vector<std::string> words = ReadStrings(info[1], "words");
  const Napi::Object options = ReadObject(info[2], "options");
  const Napi::Array edits_array = ReadArray(options.Get("editsMax"), "editsMax");
  std::vector<uint32_t> edits;
  const uint32_t edit_count = edits_array.Length();
  for (uint32_t i = 0; i < edit_count; ++i) edits.push_back(ReadUint32(edits_array[i], "an element of editsMax"));
  const ExpansionLimits limits = {ReadUint32(options.Get("stemsMax"), "stemsMax"),
                                  ReadUint32(options.Get("typosMax"), "typosMax"),
                                  ReadUint32(options.Get("prefixesMax"), "prefixesMax")};
  const std::vector<WordExpansion> expansions = ExpandWords(*published->generation, words, edits, limits);
  Napi::Array result = Napi::Array::New(env, expansions.size());
  for (uint32_t i = 0; i < expansions.size(); ++i) {
    Napi::Object word = Napi::Object::New(env);
    const auto frequency = static_cast<double>(expansions[i].document_frequency);
    word.Set("documentFrequency", Napi::Number::New(env, frequency));
    word.Set("stems", MakeTerms(env, expansions[i].stems));
    word.Set("typos", MakeTerms(env, expansions[i].typos));
    word.Set("prefixes", MakeTerms(env, expansions[i].prefixes));
    result[i] = word;
  }
  return result;
}

}  // namespace

void DefineExpansion(Napi::Object exports) { Define<ExpandCall>(exports, "expand"); }

}  // namespace gannet::addon
