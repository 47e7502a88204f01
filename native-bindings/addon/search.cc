// Searches a generation.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../kernel/collect/distinct_count.h"
#include "../kernel/engine/search.h"
#include "../kernel/terms/neighbours.h"
#include "../kernel/terms/term_lookup.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "result_memory.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

// More than the lists of a group can have.
constexpr uint32_t kFacetKindsMax = 1 << 16;

// Reads the number in an optional member.
double ReadMember(const Napi::Object& object, const char* name, double otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsUndefined() ? otherwise : ReadNumber(value, name);
}

bool ReadFlag(const Napi::Object& object, const char* name, bool otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsUndefined() ? otherwise : ReadBoolean(value, name);
}

// Reads the members that every search near a vector has.
MeaningRequest ReadNear(const Napi::Object& object) {
  MeaningRequest request;
  request.floor = static_cast<float>(ReadNumber(object.Get("floor"), "meaning.floor"));
  request.farthest = static_cast<float>(ReadNumber(object.Get("farthest"), "meaning.farthest"));
  request.nearest = static_cast<float>(ReadNumber(object.Get("nearest"), "meaning.nearest"));
  request.wanted = ReadUint32(object.Get("wanted"), "meaning.wanted");
  request.width = ReadUint32(object.Get("width"), "meaning.width");
  request.exact = ReadFlag(object, "exact", false);
  const Napi::Value vector = object.Get("vector");
  const std::span<const float> values = ReadFloats(vector, "meaning.vector");
  request.vector.assign(values.begin(), values.end());
  return request;
}

MeaningRequest ReadMeaning(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "meaning");
  MeaningRequest request = ReadNear(object);
  request.weight = static_cast<float>(ReadNumber(object.Get("weight"), "meaning.weight"));
  request.adds_matches = ReadFlag(object, "adds", true);
  request.words_full = static_cast<float>(ReadMember(object, "wordsFull", 1));
  return request;
}

PictureRequest ReadPictures(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "parts.pictures");
  const auto pictures = Registry::Instance().FindGeneration(ReadUint32(object.Get("generation"), "parts.pictures.generation"));
  return {pictures->generation, ReadNear(object)};
}

ScoreKind ReadPartKind(const Napi::Value& value) {
  const std::string name = ReadString(value, "the kind of a part");
  for (const ScoreKind kind : {ScoreKind::kDocument, ScoreKind::kImage, ScoreKind::kVideo, ScoreKind::kAudio}) {
    if (name == NameOf(kind)) return kind;
  }
  throw ArgumentError("the kind of a part has to be document, image, video or audio");
}

PartRequest ReadPart(const Napi::Object& object, const PublishedGeneration& published) {
  PartRequest request;
  request.kind = ReadPartKind(object.Get("kind"));
  request.floor = static_cast<float>(ReadNumber(object.Get("floor"), "the floor of a part"));
  request.full = static_cast<float>(ReadMember(object, "full", 1));
  const std::string name = ReadString(object.Get("name"), "the name of a part");
  const auto part = std::ranges::find(published.parts, name, &PublishedPart::name);
  // The generation has no such part: an empty one is searched.
  request.part = part == published.parts.end() ? std::make_shared<const Generation>() : part->published->generation;
  const Napi::Value plan = object.Get("plan");
  const std::span<const uint8_t> bytes = ReadBytes(plan, "the plan of a part");
  request.plan.assign(bytes.begin(), bytes.end());
  return request;
}

void ReadParts(const Napi::Value& value, const PublishedGeneration& published, BesideWords* beside) {
  const Napi::Object object = ReadObject(value, "parts");
  beside->text_floor = static_cast<float>(ReadMember(object, "textFloor", 0));
  const Napi::Array parts = ReadArray(object.Get("parts"), "parts.parts");
  const uint32_t count = parts.Length();
  for (uint32_t i = 0; i < count; ++i) beside->parts.push_back(ReadPart(ReadObject(parts[i], "a part"), published));
  const Napi::Value pictures = object.Get("pictures");
  if (!pictures.IsUndefined()) beside->pictures = ReadPictures(pictures);
}

Napi::Value SearchCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  if (!info[2].IsUndefined() || !info[3].IsUndefined()) {
    BesideWords beside;
    if (!info[2].IsUndefined()) beside.meaning = ReadMeaning(info[2]);
    if (!info[3].IsUndefined()) ReadParts(info[3], *published, &beside);
    return ResultMemory::MakeBytes(info.Env(), ReadWholly(*published, [&] {
      return SearchBesideWords(*published->generation, ReadBytes(info[1], "plan"), std::move(beside));
    }));
  }
  return ResultMemory::MakeBytes(
      info.Env(), ReadWholly(*published, [&] { return Search(*published->generation, ReadBytes(info[1], "plan")); }));
}

CountedColumn ReadCountedColumn(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "a counted column");
  return {ReadUint32(object.Get("column"), "a column"), ReadUint32(object.Get("kind"), "the kind of a column")};
}

DistinctList ReadDistinctList(const Napi::Object& object, const PublishedGeneration& published) {
  DistinctList list{published.generation.get()};
  const Napi::Value distinct = object.Get("distinct");
  if (!distinct.IsUndefined()) list.distinct = ReadCountedColumn(distinct);
  const Napi::Array facets = ReadArray(object.Get("facets"), "the facets of a list");
  for (uint32_t i = 0; i < facets.Length(); ++i) list.facets.push_back(ReadCountedColumn(facets[i]));
  const Napi::Value hits = object.Get("hits");
  const Napi::Value matches = object.Get("matches");
  const std::span<const uint32_t> numbers = ReadUint32s(hits, "the hits of a list");
  list.hits.assign(numbers.begin(), numbers.end());
  list.matches = KeptMatches(*published.generation, ReadBytes(matches, "matches"));
  return list;
}

Napi::Value MakeDistinctCounts(Napi::Env env, const DistinctCounts& counts) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("total", Napi::Number::New(env, static_cast<double>(counts.total)));
  Napi::Array sharing = Napi::Array::New(env, counts.sharing.size());
  for (uint32_t i = 0; i < counts.sharing.size(); ++i) sharing[i] = MakeUint32s(env, counts.sharing[i]);
  result.Set("sharing", sharing);
  result.Set("facets", MakeStrings(env, counts.facets));
  result.Set("ranges", MakeStrings(env, counts.ranges));
  return result;
}

Napi::Value CountDistinctCall(const Napi::CallbackInfo& info) {
  const Napi::Object asked = ReadObject(info[1], "facets");
  const std::vector<std::string> words = ReadStrings(asked.Get("words"), "facets.words");
  const std::vector<std::string_view> views(words.begin(), words.end());
  const DistinctFacets facets{ReadUint32(asked.Get("kinds"), "facets.kinds"), ReadUint32(asked.Get("size"), "facets.size"), views};
  if (facets.kinds > kFacetKindsMax) throw ArgumentError("facets.kinds is too large");
  const Napi::Array given = ReadArray(info[0], "lists");
  std::vector<std::shared_ptr<const PublishedGeneration>> published;
  std::vector<DistinctList> lists;
  for (uint32_t i = 0; i < given.Length(); ++i) {
    const Napi::Object list = ReadObject(given[i], "a list");
    published.push_back(Registry::Instance().FindGeneration(ReadUint32(list.Get("generation"), "generation")));
    lists.push_back(ReadDistinctList(list, *published.back()));
  }
  const DistinctCounts counts = ReadWholly(published, [&] { return CountDistinct(lists, facets); });
  return MakeDistinctCounts(info.Env(), counts);
}

Napi::Value CollectRecordNumbersCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  return MakeUint32s(info.Env(), ReadWholly(*published, [&] {
    return CollectRecordNumbers(*published->generation, ReadBytes(info[1], "plan"));
  }));
}

Napi::Value DocumentFrequenciesCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::vector<std::string> terms = ReadStrings(info[1], "terms");
  const std::vector<std::string_view> views(terms.begin(), terms.end());
  std::vector<uint32_t> frequencies;
  for (const uint64_t frequency : ReadWholly(*published, [&] { return DocumentFrequencies(*published->generation, views); })) {
    frequencies.push_back(static_cast<uint32_t>(std::min<uint64_t>(frequency, 0xffffffffu)));
  }
  return MakeUint32s(info.Env(), frequencies);
}

// Returns three numbers for each place between two characters of the word: the members of SplitFrequencies.
Napi::Value FindSplitsCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::string word = ReadString(info[1], "word");
  std::vector<uint32_t> frequencies;
  for (const SplitFrequencies& split : ReadWholly(*published, [&] { return FindSplits(*published->generation, word); })) {
    for (const uint64_t frequency : {split.rarer_part, split.with_full_stop, split.with_low_line}) {
      frequencies.push_back(static_cast<uint32_t>(std::min<uint64_t>(frequency, 0xffffffffu)));
    }
  }
  return MakeUint32s(info.Env(), frequencies);
}

Napi::Value AreNeighboursCall(const Napi::CallbackInfo& info) {
  const auto published = Registry::Instance().FindGeneration(ReadUint32(info[0], "generation"));
  const std::string left = ReadString(info[1], "left");
  const std::string right = ReadString(info[2], "right");
  const bool found = ReadWholly(*published, [&] { return AreNeighbours(*published->generation, left, right); });
  return Napi::Boolean::New(info.Env(), found);
}

}  // namespace

void DefineSearch(Napi::Object exports) {
  Define<SearchCall>(exports, "search");
  Define<CountDistinctCall>(exports, "countDistinct");
  Define<CollectRecordNumbersCall>(exports, "collectRecordNumbers");
  Define<DocumentFrequenciesCall>(exports, "documentFrequencies");
  Define<FindSplitsCall>(exports, "findSplits");
  Define<AreNeighboursCall>(exports, "areNeighbours");
}

}  // namespace gannet::addon
