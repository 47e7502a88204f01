// Publishing generations, and asking what is in them.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "call_guard.h"
#include "registry.h"

namespace gannet::addon {
namespace {

constexpr uint32_t kNowhere = 0xffffffffu;

std::shared_ptr<const PublishedGeneration> ReadGeneration(const Napi::Value& value) {
  return Registry::Instance().FindGeneration(ReadUint32(value, "generation"));
}

// Resolves segments for one change and remembers their handles. A segment of the base counts even when it has been
// closed since.
class SegmentResolver {
 public:
  explicit SegmentResolver(const PublishedGeneration* base) {
    if (base == nullptr) return;
    for (size_t i = 0; i < base->handles.size(); ++i) Add(base->handles[i], base->generation->segments[i].segment);
  }

  std::shared_ptr<const Segment> Find(SegmentHandle handle) {
    const auto found = segments_.find(handle);
    if (found != segments_.end()) return found->second;
    return Add(handle, Registry::Instance().OwnSegment(handle));
  }

  SegmentHandle HandleOf(const Segment* segment) const { return handles_.at(segment); }

 private:
  std::shared_ptr<const Segment> Add(SegmentHandle handle, std::shared_ptr<const Segment> segment) {
    handles_.emplace(segment.get(), handle);
    return segments_.emplace(handle, std::move(segment)).first->second;
  }

  std::unordered_map<SegmentHandle, std::shared_ptr<const Segment>> segments_;
  std::unordered_map<const Segment*, SegmentHandle> handles_;
};

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

Napi::Value PublishGenerationCall(const Napi::CallbackInfo& info) {
  const Napi::Object change = ReadObject(info[0], "change");
  std::shared_ptr<const PublishedGeneration> base;
  if (const Napi::Value value = change.Get("base"); !value.IsUndefined()) {
    base = Registry::Instance().OwnGeneration(ReadUint32(value, "generation"));
  }
  SegmentResolver resolver(base.get());

  std::vector<SegmentView> added;
  VisitObjects(change.Get("add"), "change.add", [&](const Napi::Object& object) {
    SegmentView view;
    view.segment = resolver.Find(ReadUint32(object.Get("segment"), "the segment to add"));
    const Napi::Value deleted = object.Get("deleted");
    view.deletions = MakeDeletions(deleted.IsUndefined() ? std::span<const uint8_t>() : ReadBytes(deleted, "deleted"),
                                   view.segment->document_count());
    added.push_back(std::move(view));
  });
  std::vector<std::shared_ptr<const Segment>> removed;
  if (const Napi::Value value = change.Get("remove"); !value.IsUndefined()) {
    const Napi::Array array = ReadArray(value, "change.remove");
    const uint32_t count = array.Length();
    for (uint32_t i = 0; i < count; ++i) removed.push_back(resolver.Find(ReadUint32(array[i], "a segment to remove")));
  }
  std::vector<SegmentDeletions> deletions;
  VisitObjects(change.Get("deletions"), "change.deletions", [&](const Napi::Object& object) {
    SegmentDeletions one;
    one.segment = resolver.Find(ReadUint32(object.Get("segment"), "the segment of deletions"));
    const std::span<const uint32_t> documents = ReadUint32s(object.Get("documents"), "documents");
    one.documents.assign(documents.begin(), documents.end());
    deletions.push_back(std::move(one));
  });
  std::string settings = base ? base->generation->settings : std::string();
  if (const Napi::Value value = change.Get("settings"); !value.IsUndefined()) settings = ReadString(value, "settings");

  auto published = std::make_shared<PublishedGeneration>();
  published->generation =
      DeriveGeneration(base ? base->generation.get() : nullptr, added, removed, deletions, std::move(settings));
  for (const SegmentView& view : published->generation->segments) {
    published->handles.push_back(resolver.HandleOf(view.segment.get()));
  }
  return Napi::Number::New(info.Env(), Registry::Instance().AddGeneration(std::move(published)));
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

Napi::Value GenerationDeletionsCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const SegmentHandle handle = ReadUint32(info[1], "segment");
  const auto found = std::find(published->handles.begin(), published->handles.end(), handle);
  if (found == published->handles.end()) {
    throw Error(ErrorCode::kInvalidArgument, "the generation has no segment " + std::to_string(handle));
  }
  const SegmentView& view = published->generation->segments[static_cast<size_t>(found - published->handles.begin())];
  if (view.deletions.deleted_count == 0) return info.Env().Undefined();
  std::vector<uint8_t> bits((size_t{view.segment->document_count()} + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto& chunk = view.deletions.chunks[i / kDeletionChunkBytes];
    const size_t byte = i % kDeletionChunkBytes;
    if (chunk) bits[i] = static_cast<uint8_t>((*chunk)[byte / 8] >> (byte % 8 * 8));
  }
  return MakeBytes(info.Env(), std::move(bits));
}

Napi::Value LocateCall(const Napi::CallbackInfo& info) {
  const auto published = ReadGeneration(info[0]);
  const std::vector<SegmentView>& segments = published->generation->segments;
  std::vector<uint32_t> places;
  for (const uint32_t record_number : ReadUint32s(info[1], "recordNumbers")) {
    uint32_t handle = kNowhere;
    uint32_t document = kNowhere;
    // Newer segments are behind older ones and hold what is asked for most.
    for (size_t i = segments.size(); i-- > 0 && handle == kNowhere;) {
      const auto found = segments[i].segment->FindDocument(record_number);
      if (!found || segments[i].deletions.Contains(*found)) continue;
      handle = published->handles[i];
      document = *found;
    }
    places.push_back(handle);
    places.push_back(document);
  }
  return MakeUint32s(info.Env(), places);
}

}  // namespace

void DefineGenerations(Napi::Object exports) {
  Define<PublishGenerationCall>(exports, "publishGeneration");
  Define<ReleaseGenerationCall>(exports, "releaseGeneration");
  Define<GenerationInfoCall>(exports, "generationInfo");
  Define<GenerationSettingsCall>(exports, "generationSettings");
  Define<GenerationDeletionsCall>(exports, "generationDeletions");
  Define<LocateCall>(exports, "locate");
  exports.Set("checksLeases", Napi::Boolean::New(exports.Env(), Registry::Instance().checks_leases()));
  Define<CountLeasesCall>(exports, "countLeases");
}

}  // namespace gannet::addon
