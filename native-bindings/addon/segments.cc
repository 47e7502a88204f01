// Builds, merges and opens segments.
#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../kernel/segment/background_build.h"
#include "../kernel/segment/segment_builder.h"
#include "../kernel/segment/segment_seal.h"
#include "../kernel/sources/part_source.h"
#include "../kernel/terms/new_terms.h"
#include "bindings.h"
#include "call_guard.h"
#include "file_check.h"
#include "registry.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

ColumnType ReadColumnType(const Napi::Value& value) {
  const std::string name = ReadString(value, "the type of a column");
  if (name == "string") return ColumnType::kString;
  if (name == "number") return ColumnType::kNumber;
  if (name == "boolean") return ColumnType::kBoolean;
  if (name == "date") return ColumnType::kDate;
  if (name == "location") return ColumnType::kLocation;
  throw ArgumentError("the type of a column has to be string, number, boolean, date or location");
}

SegmentSchema ReadSchema(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "schema");
  SegmentSchema schema;
  if (const Napi::Value language = object.Get("language"); !language.IsUndefined()) {
    schema.language = ReadString(language, "schema.language");
  }
  const Napi::Array fields = ReadArray(object.Get("textFields"), "schema.textFields");
  const uint32_t field_count = fields.Length();
  for (uint32_t i = 0; i < field_count; ++i) {
    const Napi::Object field = ReadObject(fields[i], "a text field");
    schema.text_field_weight_units.push_back(ReadUint32(field.Get("weightUnits"), "weightUnits"));
  }
  const Napi::Array columns = ReadArray(object.Get("columns"), "schema.columns");
  const uint32_t column_count = columns.Length();
  for (uint32_t i = 0; i < column_count; ++i) {
    const Napi::Object column = ReadObject(columns[i], "a column");
    schema.columns.push_back({ReadString(column.Get("name"), "the name of a column"),
                              ReadColumnType(column.Get("type")),
                              ReadBoolean(column.Get("many"), "many of a column")});
  }
  return schema;
}

Napi::Object MakeSummary(Napi::Env env, const SegmentSummary& summary) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("documentCount", Napi::Number::New(env, summary.document_count));
  result.Set("termCount", Napi::Number::New(env, static_cast<double>(summary.term_count)));
  result.Set("fileBytes", Napi::Number::New(env, static_cast<double>(summary.file_bytes)));
  return result;
}

Napi::Value BuildSegmentCall(const Napi::CallbackInfo& info) {
  const std::string path = ReadPath(info[0], "path");
  const SegmentSchema schema = ReadSchema(info[1]);
  return MakeSummary(info.Env(), BuildSegment(path, schema, ReadBytes(info[2], "documents")));
}

std::shared_ptr<BackgroundBuild> BeginBuild(std::string path, SegmentSchema schema) {
  try {
    return std::make_shared<BackgroundBuild>(std::move(path), std::move(schema));
  } catch (const std::system_error&) {
    return nullptr;
  }
}

Napi::Value BeginSegmentCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::string path = ReadPath(info[0], "path");
  const auto build = BeginBuild(std::move(path), ReadSchema(info[1]));
  if (!build) return env.Null();
  Napi::Object object = Napi::Object::New(env);
  const auto define = [&](const char* name, auto action) {
    object.Set(name, Napi::Function::New(env, [build, action](const Napi::CallbackInfo& call) {
      return GuardCall(call.Env(), [&]() -> Napi::Value { return action(*build, call); });
    }));
  };
  define("add", [](BackgroundBuild& begun, const Napi::CallbackInfo& call) {
    begun.Add(ReadBytes(call[0], "documents"));
    return call.Env().Undefined();
  });
  define("end", [](BackgroundBuild& begun, const Napi::CallbackInfo& call) {
    begun.End();
    return call.Env().Undefined();
  });
  define("finish", [](BackgroundBuild& begun, const Napi::CallbackInfo& call) {
    return MakeSummary(call.Env(), begun.Finish());
  });
  define("abandon", [](BackgroundBuild& begun, const Napi::CallbackInfo& call) {
    begun.Abandon();
    return call.Env().Undefined();
  });
  return object;
}

Napi::Value MergeSegmentsCall(const Napi::CallbackInfo& info) {
  const std::string path = ReadPath(info[0], "path");
  const SegmentSchema schema = ReadSchema(info[1]);
  const Napi::Array array = ReadArray(info[2], "sources");
  std::vector<MergeSource> sources;
  const uint32_t count = array.Length();
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::Object object = ReadObject(array[i], "a source");
    MergeSource source{Registry::Instance().FindSegment(ReadUint32(object.Get("segment"), "the segment of a source")),
                       {}};
    if (const Napi::Value deleted = object.Get("deleted"); !deleted.IsUndefined()) {
      const std::span<const uint8_t> bits = ReadBytes(deleted, "deleted of a source");
      source.deleted.assign(bits.begin(), bits.end());
    }
    sources.push_back(std::move(source));
  }
  const SegmentSummary merged = MergeSegments(path, schema, sources);
  Napi::Object result = MakeSummary(info.Env(), merged);
  if (!info[3].IsUndefined()) {
    const auto published = Registry::Instance().FindGeneration(ReadUint32(info[3], "generation"));
    const auto lost = FindLostTerms(*published->generation, sources, merged.lost_terms);
    if (lost) result.Set("lostTerms", MakeStrings(info.Env(), *lost));
  }
  return result;
}

Napi::Value CheckSegmentCall(const Napi::CallbackInfo& info) {
  CheckSegmentSeal(ReadPath(info[0], "path"));
  return info.Env().Undefined();
}

Napi::Value CheckSegmentInBackgroundCall(const Napi::CallbackInfo& info) {
  return FileCheck::Run(info.Env(), ReadPath(info[0], "path"), CheckSegmentSeal);
}

Napi::Value OpenSegmentCall(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), Registry::Instance().OpenSegment(ReadPath(info[0], "path")));
}

Napi::Value CloseSegmentCall(const Napi::CallbackInfo& info) {
  Registry::Instance().CloseSegment(ReadUint32(info[0], "segment"));
  return info.Env().Undefined();
}

Napi::Value RecordNumbersCall(const Napi::CallbackInfo& info) {
  const auto segment = Registry::Instance().FindSegment(ReadUint32(info[0], "segment"));
  return ReadWholly(*segment, [&] { return MakeUint32s(info.Env(), segment->record_numbers()); });
}

Napi::Value DocumentsOfCall(const Napi::CallbackInfo& info) {
  const auto segment = Registry::Instance().FindSegment(ReadUint32(info[0], "segment"));
  const std::span<const uint32_t> record_numbers = ReadUint32s(info[1], "recordNumbers");
  return MakeUint32s(info.Env(), ReadWholly(*segment, [&] {
    std::vector<uint32_t> documents;
    for (const uint32_t record_number : record_numbers) {
      documents.push_back(segment->FindDocument(record_number).value_or(0xffffffffu));
    }
    return documents;
  }));
}

Napi::Value FindPartDocumentsCall(const Napi::CallbackInfo& info) {
  const auto segment = Registry::Instance().FindSegment(ReadUint32(info[0], "segment"));
  const std::span<const uint32_t> given = ReadUint32s(info[1], "records");
  std::vector<uint32_t> records(given.begin(), given.end());
  std::ranges::sort(records);
  return MakeUint32s(info.Env(), ReadWholly(*segment, [&] { return FindPartDocuments(*segment, records); }));
}

}  // namespace

void DefineSegments(Napi::Object exports) {
  Define<BuildSegmentCall>(exports, "buildSegment");
  Define<BeginSegmentCall>(exports, "beginSegment");
  Define<MergeSegmentsCall>(exports, "mergeSegments");
  Define<OpenSegmentCall>(exports, "openSegment");
  Define<CheckSegmentCall>(exports, "checkSegment");
  Define<CheckSegmentInBackgroundCall>(exports, "checkSegmentInBackground");
  Define<CloseSegmentCall>(exports, "closeSegment");
  Define<RecordNumbersCall>(exports, "recordNumbers");
  Define<DocumentsOfCall>(exports, "documentsOf");
  Define<FindPartDocumentsCall>(exports, "findPartDocuments");
}

}  // namespace gannet::addon
