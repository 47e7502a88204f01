// Publishes generations, and reads what is in them.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../kernel/sources/live_ordinals.h"
#include "bindings.h"
#include "call_guard.h"
#include "registry.h"
#include "whole_reads.h"

namespace gannet::addon {
namespace {

constexpr uint32_t kNowhere = 0xffffffffu;

std::shared_ptr<const PublishedGeneration> ReadGeneration(const Napi::Value& value) {
  return Registry::Instance().FindGeneration(ReadUint32(value, "generation"));
}

// Resolves the files of one change and records their handles. A file of the base is found even if it has been closed
// since.
template <typename File, std::shared_ptr<const File> (Registry::*Own)(uint32_t) const>
class Resolver {
 public:
  template <typename View>
  void AddBase(const std::vector<uint32_t>& handles, const std::vector<View>& views) {
    for (size_t i = 0; i < handles.size(); ++i) Add(handles[i], views[i].segment);
  }

  std::shared_ptr<const File> Find(uint32_t handle) {
    const auto found = files_.find(handle);
    if (found != files_.end()) return found->second;
    return Add(handle, (Registry::Instance().*Own)(handle));
  }

  uint32_t HandleOf(const File* file) const { return handles_.at(file); }

 private:
  std::shared_ptr<const File> Add(uint32_t handle, std::shared_ptr<const File> file) {
    handles_.emplace(file.get(), handle);
    return files_.emplace(handle, std::move(file)).first->second;
  }

  std::unordered_map<uint32_t, std::shared_ptr<const File>> files_;
  std::unordered_map<const File*, uint32_t> handles_;
};
using SegmentResolver = Resolver<Segment, &Registry::OwnSegment>;
using VectorResolver = Resolver<vectors::VectorSegment, &Registry::OwnVectors>;

DeletionSet MakeDeletions(std::span<const uint8_t> bits, uint32_t document_count) {
  if (bits.size() > (size_t{document_count} + 7) / 8) {
    throw Error(ErrorCode::kInvalidArgument, "a bitmap of deletions is longer than its segment");
  }
  DeletionSet deletions;
  deletions.chunks.resize((document_count + kWindowSize - 1) / kWindowSize);
  for (size_t begin = 0; begin < bits.size(); begin += kDeletionChunkBytes) {
    const auto chunk_bits = bits.subspan(begin, std::min<size_t>(kDeletionChunkBytes, bits.size() - begin));
    if (std::all_of(chunk_bits.begin(), chunk_bits.end(), [](uint8_t byte) { return byte == 0; })) continue;
    auto chunk = std::make_shared<DeletionSet::Chunk>(kWindowSize / 64);
    for (size_t i = 0; i < chunk_bits.size(); ++i) (*chunk)[i / 8] |= uint64_t{chunk_bits[i]} << (i % 8 * 8);
    for (const uint64_t word : *chunk) deletions.deleted_count += static_cast<uint32_t>(__builtin_popcountll(word));
    deletions.chunks[begin / kDeletionChunkBytes] = std::move(chunk);
  }
  return deletions;
}

// Calls visit(object) for each object of an optional array.
template <typename Visit>
void VisitObjects(const Napi::Value& value, const char* what, Visit visit) {
  if (value.IsUndefined()) return;
  const Napi::Array array = ReadArray(value, what);
  const uint32_t count = array.Length();
  for (uint32_t i = 0; i < count; ++i) visit(ReadObject(array[i], what));
}

DeletionSet ReadDeletions(const Napi::Object& object, uint32_t count) {
  const Napi::Value deleted = object.Get("deleted");
  return MakeDeletions(deleted.IsUndefined() ? std::span<const uint8_t>() : ReadBytes(deleted, "deleted"), count);
}

// Calls visit(handle) for each of an optional array of handles.
template <typename Visit>
void VisitHandles(const Napi::Value& value, const char* what, Visit visit) {
  if (value.IsUndefined()) return;
  const Napi::Array array = ReadArray(value, what);
  const uint32_t count = array.Length();
  for (uint32_t i = 0; i < count; ++i) visit(ReadUint32(array[i], what));
}

VectorChange ReadVectorChange(const Napi::Value& value, VectorResolver* resolver) {
  VectorChange change;
  if (value.IsUndefined()) return change;
  const Napi::Object object = ReadObject(value, "change.vectors");
  VisitObjects(object.Get("add"), "vectors.add", [&](const Napi::Object& entry) {
    VectorView view{resolver->Find(ReadUint32(entry.Get("segment"), "the segment of vectors to add"))};
    view.deletions = ReadDeletions(entry, view.segment->graph().count());
    change.added.push_back(std::move(view));
  });
  VisitHandles(object.Get("remove"), "vectors.remove",
               [&](uint32_t handle) { change.removed.push_back(resolver->Find(handle)); });
  VisitObjects(object.Get("deletions"), "vectors.deletions", [&](const Napi::Object& entry) {
    VectorChange::Deletions one{resolver->Find(ReadUint32(entry.Get("segment"), "the segment of deleted vectors")), {}};
    const std::span<const uint32_t> records = ReadUint32s(entry.Get("records"), "records");
    one.records.assign(records.begin(), records.end());
    change.deletions.push_back(std::move(one));
  });
  return change;
}

// A change of the segments of an index: that of the fields, or of a part.
struct SegmentChange {
  std::vector<SegmentView> added;
  std::vector<std::shared_ptr<const Segment>> removed;
  std::vector<SegmentDeletions> deletions;
  std::optional<std::vector<std::string>> gone_terms = std::nullopt;

  const std::vector<std::string>* gone() const { return gone_terms ? &*gone_terms : nullptr; }
  bool is_empty() const { return added.empty() && removed.empty() && deletions.empty(); }
};

SegmentChange ReadSegmentChange(const Napi::Object& object, SegmentResolver* resolver) {
  SegmentChange change;
  VisitObjects(object.Get("add"), "change.add", [&](const Napi::Object& entry) {
    SegmentView view;
    view.segment = resolver->Find(ReadUint32(entry.Get("segment"), "the segment to add"));
    view.deletions = ReadDeletions(entry, view.segment->document_count());
    if (const Napi::Value terms = entry.Get("changedTerms"); !terms.IsUndefined()) {
      view.changed_terms = std::make_shared<const std::vector<std::string>>(ReadStrings(terms, "changedTerms"));
    }
    change.added.push_back(std::move(view));
  });
  VisitHandles(object.Get("remove"), "change.remove",
               [&](uint32_t handle) { change.removed.push_back(resolver->Find(handle)); });
  VisitObjects(object.Get("deletions"), "change.deletions", [&](const Napi::Object& entry) {
    SegmentDeletions one;
    one.segment = resolver->Find(ReadUint32(entry.Get("segment"), "the segment of deletions"));
    const std::span<const uint32_t> documents = ReadUint32s(entry.Get("documents"), "documents");
    one.documents.assign(documents.begin(), documents.end());
    change.deletions.push_back(std::move(one));
  });
  if (const Napi::Value terms = object.Get("goneTerms"); !terms.IsUndefined()) {
    change.gone_terms = ReadStrings(terms, "goneTerms");
  }
  return change;
}

const Generation* GenerationOf(const PublishedGeneration* published) {
  return published == nullptr ? nullptr : published->generation.get();
}

void AddHandles(const SegmentResolver& resolver, PublishedGeneration* published) {
  for (const SegmentView& view : published->generation->segments) {
    published->handles.push_back(resolver.HandleOf(view.segment.get()));
  }
}

void ChangePart(const Napi::Object& object, PublishedPart* part) {
  SegmentResolver resolver;
  if (part->published) resolver.AddBase(part->published->handles, part->published->generation->segments);
  SegmentChange change = ReadSegmentChange(object, &resolver);
  if (part->published && change.is_empty()) return;
  for (SegmentView& view : change.added) {
    CheckPart(*view.segment);
    view.homes = std::make_shared<PartHomes>();
  }
  auto published = std::make_shared<PublishedGeneration>();
  published->generation =
      DeriveGeneration(GenerationOf(part->published.get()), change.added, change.removed, change.deletions, std::string(), {},
                       change.gone());
  AddHandles(resolver, published.get());
  part->published = std::move(published);
  part->handle = 0;
}

std::string ReadPartName(const Napi::Object& object) {
  constexpr size_t kNameMax = 32;
  std::string name = ReadString(object.Get("name"), "the name of a part");
  const bool fits = std::ranges::all_of(name, [](char letter) { return letter >= 'a' && letter <= 'z'; });
  if (name.empty() || name.size() > kNameMax || !fits) {
    throw Error(ErrorCode::kInvalidArgument, "the name of a part has 1 to 32 lower-case letters");
  }
  return name;
}

// Returns the parts of the base with the changes applied.
std::vector<PublishedPart> ReadParts(const Napi::Value& value, const PublishedGeneration* base) {
  std::vector<PublishedPart> parts;
  if (base != nullptr) parts = base->parts;
  std::vector<std::string> changed;
  VisitObjects(value, "change.parts", [&](const Napi::Object& object) {
    changed.push_back(ReadPartName(object));
    if (std::ranges::count(changed, changed.back()) > 1) {
      throw Error(ErrorCode::kInvalidArgument, "a part is changed twice: " + changed.back());
    }
    auto part = std::ranges::find(parts, changed.back(), &PublishedPart::name);
    if (part == parts.end()) part = parts.insert(part, {changed.back(), nullptr, 0});
    ChangePart(object, &*part);
  });
  return parts;
}

Napi::Value PublishGenerationCall(const Napi::CallbackInfo& info) {
  const Napi::Object object = ReadObject(info[0], "change");
  std::shared_ptr<const PublishedGeneration> base;
  if (const Napi::Value value = object.Get("base"); !value.IsUndefined()) {
    base = Registry::Instance().OwnGeneration(ReadUint32(value, "generation"));
  }
  SegmentResolver resolver;
  VectorResolver vector_resolver;
  if (base) {
    resolver.AddBase(base->handles, base->generation->segments);
    vector_resolver.AddBase(base->vector_handles, base->generation->vectors);
  }
  const SegmentChange change = ReadSegmentChange(object, &resolver);
  const VectorChange vectors = ReadVectorChange(object.Get("vectors"), &vector_resolver);
  std::string settings = base ? base->generation->settings : std::string();
  if (const Napi::Value value = object.Get("settings"); !value.IsUndefined()) settings = ReadString(value, "settings");

  auto published = std::make_shared<PublishedGeneration>();
  published->parts = ReadParts(object.Get("parts"), base.get());
  published->generation = DeriveGeneration(GenerationOf(base.get()), change.added, change.removed, change.deletions,
                                           std::move(settings), vectors, change.gone());
  AddHandles(resolver, published.get());
  for (const VectorView& view : published->generation->vectors) {
    published->vector_handles.push_back(vector_resolver.HandleOf(view.segment.get()));
  }
  return Napi::Number::New(info.Env(), Registry::Instance().AddGeneration(std::move(published)));
}

Napi::Value GenerationPartsCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = ReadGeneration(info[0]);
  Napi::Array parts = Napi::Array::New(env, published->parts.size());
  for (size_t i = 0; i < published->parts.size(); ++i) {
    Napi::Object part = Napi::Object::New(env);
    part.Set("name", Napi::String::New(env, published->parts[i].name));
    part.Set("generation", Napi::Number::New(env, published->parts[i].handle));
    parts[static_cast<uint32_t>(i)] = part;
  }
  return parts;
}

Napi::Value ReleaseGenerationCall(const Napi::CallbackInfo& info) {
  Registry::Instance().ReleaseGeneration(ReadUint32(info[0], "generation"));
  return info.Env().Undefined();
}

Napi::Value CountLeasesCall(const Napi::CallbackInfo& info) {
  const uint32_t handle = ReadUint32(info[0], "generation");
  if (!info[1].IsNumber()) throw ArgumentError("by has to be -1, 0 or 1");
  const double by = info[1].As<Napi::Number>().DoubleValue();
  if (by != -1 && by != 0 && by != 1) throw ArgumentError("by has to be -1, 0 or 1");
  Registry::Instance().CountLeases(handle, static_cast<int>(by));
  return info.Env().Undefined();
}

Napi::Value GenerationInfoCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = ReadGeneration(info[0]);
  const Generation& generation = *published->generation;
  Napi::Array segments = Napi::Array::New(env, generation.segments.size());
  for (size_t i = 0; i < generation.segments.size(); ++i) {
    const SegmentView& view = generation.segments[i];
    Napi::Object object = Napi::Object::New(env);
    object.Set("segment", Napi::Number::New(env, published->handles[i]));
    object.Set("documentCount", Napi::Number::New(env, view.segment->document_count()));
    object.Set("deletedCount", Napi::Number::New(env, view.deletions.deleted_count));
    object.Set("fileBytes", Napi::Number::New(env, static_cast<double>(view.segment->file_bytes())));
    segments[static_cast<uint32_t>(i)] = object;
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("documentCount", Napi::Number::New(env, static_cast<double>(generation.document_count)));
  result.Set("liveCount", Napi::Number::New(env, static_cast<double>(generation.live_count)));
  result.Set("segments", segments);
  return result;
}

Napi::Value GenerationSettingsCall(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), ReadGeneration(info[0])->generation->settings);
}

size_t IndexOf(const std::vector<uint32_t>& handles, uint32_t handle) {
  const auto found = std::find(handles.begin(), handles.end(), handle);
  if (found == handles.end()) {
    throw Error(ErrorCode::kInvalidArgument, "the generation has no segment " + std::to_string(handle));
  }
  return static_cast<size_t>(found - handles.begin());
}

// Returns one bit per document, the least significant first; undefined if nothing is deleted.
Napi::Value MakeBitmap(Napi::Env env, const DeletionSet& deletions, uint32_t count) {
  if (deletions.deleted_count == 0) return env.Undefined();
  std::vector<uint8_t> bits((size_t{count} + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto& chunk = deletions.chunks[i / kDeletionChunkBytes];
    const size_t byte = i % kDeletionChunkBytes;
    if (chunk) bits[i] = static_cast<uint8_t>((*chunk)[byte / 8] >> (byte % 8 * 8));
  }
  return MakeBytes(env, std::move(bits));
}

Napi::Value GenerationDeletionsCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const size_t index = IndexOf(published->handles, ReadUint32(info[1], "segment"));
  const SegmentView& view = published->generation->segments[index];
  return MakeBitmap(info.Env(), view.deletions, view.segment->document_count());
}

Napi::Value GenerationVectorsCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto published = ReadGeneration(info[0]);
  const std::vector<VectorView>& views = published->generation->vectors;
  Napi::Array segments = Napi::Array::New(env, views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("segment", Napi::Number::New(env, published->vector_handles[i]));
    const vectors::VectorGraph& graph = views[i].segment->graph();
    object.Set("dimensions", Napi::Number::New(env, graph.dimensions()));
    object.Set("vectorCount", Napi::Number::New(env, graph.count()));
    object.Set("comparedBytes", Napi::Number::New(env, graph.has_links() ? 0.0 : static_cast<double>(uint64_t{graph.nodes()} * graph.bytes_of_codes())));
    object.Set("lacksGraph", Napi::Boolean::New(env, graph.lacks_links()));
    object.Set("deletedCount", Napi::Number::New(env, views[i].deletions.deleted_count));
    object.Set("fileBytes", Napi::Number::New(env, static_cast<double>(views[i].segment->file_bytes())));
    segments[static_cast<uint32_t>(i)] = object;
  }
  return segments;
}

Napi::Value VectorDeletionsCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const VectorView& view =
      published->generation->vectors[IndexOf(published->vector_handles, ReadUint32(info[1], "segment"))];
  return ReadWholly(*published, [&] { return MakeBitmap(info.Env(), view.deletions, view.segment->graph().count()); });
}

Napi::Value DeadVectorsCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const VectorView& view =
      published->generation->vectors[IndexOf(published->vector_handles, ReadUint32(info[1], "segment"))];
  return MakeBytes(info.Env(), ReadWholly(*published, [&] { return FindDeadVectors(*published->generation, view); }));
}

// Used to remove or replace documents: one that is not found because of zeros would stay in the index for good.
Napi::Value LocateCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const std::vector<SegmentView>& segments = published->generation->segments;
  const std::span<const uint32_t> record_numbers = ReadUint32s(info[1], "recordNumbers");
  return MakeUint32s(info.Env(), ReadWholly(*published, [&] {
    std::vector<uint32_t> places;
    for (const uint32_t record_number : record_numbers) {
      uint32_t handle = kNowhere;
      uint32_t document = kNowhere;
      // Newer segments come after older ones and have what is requested most often.
      for (size_t i = segments.size(); i-- > 0 && handle == kNowhere;) {
        const auto found = segments[i].segment->FindDocument(record_number);
        if (!found || segments[i].deletions.Contains(*found)) continue;
        handle = published->handles[i];
        document = *found;
      }
      places.push_back(handle);
      places.push_back(document);
    }
    return places;
  }));
}

Napi::Value RecordVectorsCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const Generation& generation = *published->generation;
  const std::span<const uint32_t> records = ReadUint32s(info[1], "recordNumbers");
  const size_t dimensions = generation.vectors.empty() ? 0 : generation.vectors.front().segment->graph().dimensions();
  auto rows = Napi::Float32Array::New(info.Env(), records.size() * dimensions);  // zeros
  return ReadWholly(*published, [&] {
    for (size_t i = 0; i < records.size(); ++i) {
      AddVectorsOf(generation, records[i], std::span(rows.Data() + i * dimensions, dimensions));
    }
    return rows;
  });
}

}  // namespace

void DefineGenerations(Napi::Object exports) {
  Define<PublishGenerationCall>(exports, "publishGeneration");
  Define<ReleaseGenerationCall>(exports, "releaseGeneration");
  Define<GenerationInfoCall>(exports, "generationInfo");
  Define<GenerationSettingsCall>(exports, "generationSettings");
  Define<GenerationDeletionsCall>(exports, "generationDeletions");
  Define<GenerationVectorsCall>(exports, "generationVectors");
  Define<VectorDeletionsCall>(exports, "vectorDeletions");
  Define<DeadVectorsCall>(exports, "deadVectors");
  Define<GenerationPartsCall>(exports, "generationParts");
  Define<LocateCall>(exports, "locate");
  Define<RecordVectorsCall>(exports, "recordVectors");
  exports.Set("checksLeases", Napi::Boolean::New(exports.Env(), Registry::Instance().checks_leases()));
  Define<CountLeasesCall>(exports, "countLeases");
}

}  // namespace gannet::addon
