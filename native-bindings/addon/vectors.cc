// Builds, merges and opens segments of vectors.
#include <string>
#include <utility>
#include <vector>

#include "../kernel/vectors/vector_writer.h"
#include "bindings.h"
#include "call_guard.h"
#include "file_check.h"
#include "registry.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

Napi::Value MakeSummary(Napi::Env env, const vectors::VectorSummary& summary) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("vectorCount", Napi::Number::New(env, summary.count));
  result.Set("nodeCount", Napi::Number::New(env, summary.nodes));
  result.Set("dimensions", Napi::Number::New(env, summary.dimensions));
  result.Set("fileBytes", Napi::Number::New(env, static_cast<double>(summary.file_bytes)));
  result.Set("hasGraph", Napi::Boolean::New(env, summary.has_graph));
  return result;
}

Napi::Value BuildVectorSegmentCall(const Napi::CallbackInfo& info) {
  const std::string path = ReadPath(info[0], "path");
  const Napi::Object object = ReadObject(info[1], "rows");
  vectors::VectorRows rows;
  rows.dimensions = ReadUint32(object.Get("dimensions"), "rows.dimensions");
  const Napi::Value values = object.Get("vectors");
  const Napi::Value records = object.Get("records");
  const Napi::Value places = object.Get("places");
  rows.vectors = ReadFloats(values, "rows.vectors");
  rows.records = ReadUint32s(records, "rows.records");
  rows.passages = ReadUint32s(places, "rows.places");
  vectors::GraphOptions options;
  if (const Napi::Value value = info[2]; !value.IsUndefined()) {
    const Napi::Value graph = ReadObject(value, "options").Get("graph");
    if (!graph.IsUndefined() && !ReadBoolean(graph, "options.graph")) options.nodes_min = vectors::kWithoutGraph;
  }
  return MakeSummary(info.Env(), vectors::BuildVectors(path, rows, options));
}

Napi::Value MergeVectorSegmentsCall(const Napi::CallbackInfo& info) {
  const std::string path = ReadPath(info[0], "path");
  const Napi::Array array = ReadArray(info[1], "sources");
  std::vector<vectors::VectorMergeSource> sources;
  const uint32_t count = array.Length();
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::Object object = ReadObject(array[i], "a source");
    vectors::VectorMergeSource source{
        Registry::Instance().FindVectors(ReadUint32(object.Get("segment"), "the segment of a source"))};
    if (const Napi::Value deleted = object.Get("deleted"); !deleted.IsUndefined()) {
      const std::span<const uint8_t> bits = ReadBytes(deleted, "deleted of a source");
      source.deleted.assign(bits.begin(), bits.end());
    }
    sources.push_back(std::move(source));
  }
  return MakeSummary(info.Env(), vectors::MergeVectors(path, sources));
}

Napi::Value CheckVectorSegmentCall(const Napi::CallbackInfo& info) {
  vectors::CheckVectorFile(ReadPath(info[0], "path"));
  return info.Env().Undefined();
}

Napi::Value CheckVectorSegmentInBackgroundCall(const Napi::CallbackInfo& info) {
  return FileCheck::Run(info.Env(), ReadPath(info[0], "path"), vectors::CheckVectorFile);
}

Napi::Value OpenVectorSegmentCall(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), Registry::Instance().OpenVectors(ReadPath(info[0], "path")));
}

Napi::Value CloseVectorSegmentCall(const Napi::CallbackInfo& info) {
  Registry::Instance().CloseVectors(ReadUint32(info[0], "segment"));
  return info.Env().Undefined();
}

Napi::Value VectorSegmentRowsCall(const Napi::CallbackInfo& info) {
  const auto segment = Registry::Instance().FindVectors(ReadUint32(info[0], "segment"));
  return ReadWholly(*segment, [&] {
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("records", MakeUint32s(info.Env(), segment->graph().records()));
    result.Set("places", MakeUint32s(info.Env(), segment->graph().passages()));
    return result;
  });
}

Napi::Value VectorBuildBytesCall(const Napi::CallbackInfo& info) {
  const uint64_t count = ReadSize(info[0], "vectorCount");
  const uint32_t dimensions = ReadUint32(info[1], "dimensions");
  return Napi::Number::New(info.Env(), static_cast<double>(vectors::BytesWhileWriting(count, dimensions)));
}

}  // namespace

void DefineVectors(Napi::Object exports) {
  Define<BuildVectorSegmentCall>(exports, "buildVectorSegment");
  Define<MergeVectorSegmentsCall>(exports, "mergeVectorSegments");
  Define<CheckVectorSegmentCall>(exports, "checkVectorSegment");
  Define<CheckVectorSegmentInBackgroundCall>(exports, "checkVectorSegmentInBackground");
  Define<OpenVectorSegmentCall>(exports, "openVectorSegment");
  Define<CloseVectorSegmentCall>(exports, "closeVectorSegment");
  Define<VectorSegmentRowsCall>(exports, "vectorSegmentRows");
  Define<VectorBuildBytesCall>(exports, "vectorBuildBytes");
}

}  // namespace gannet::addon
