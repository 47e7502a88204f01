#include "registry.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "../kernel/common/error.h"

namespace gannet::addon {
namespace {

// Identifies a file by path, device and inode, so that a new file with an old path is not mistaken for the old one. The
// inode of an open file is not reused.
std::string IdentifyFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path;  // opening it will report the error
  return path + '\0' + std::to_string(status.st_dev) + '\0' + std::to_string(status.st_ino);
}

[[noreturn]] void ThrowUnknown(const char* what, uint32_t handle) {
  throw Error(ErrorCode::kInvalidArgument, std::string("no ") + what + " with the handle " + std::to_string(handle));
}

bool WantsLeaseChecks() {
  const char* wanted = std::getenv("GANNET_KERNEL_CHECK_LEASES");
  return wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

// Ends the process: the caller has a defect that an exception might hide.
[[noreturn]] void AbortForLease(const char* what, uint32_t handle, const char* fault) {
  std::fprintf(stderr, "gannet kernel: %s %u %s\n", what, handle, fault);
  std::fflush(stderr);
  std::abort();
}

}  // namespace

Registry& Registry::Instance() {
  static auto* registry = new Registry(WantsLeaseChecks());
  return *registry;
}

template <typename File, typename Open>
uint32_t Registry::OpenFile(const std::string& path, FileTable<File>* table, Open&& open) {
  const std::string file = IdentifyFile(path);
  {
    const std::unique_lock lock(mutex_);
    if (const uint32_t handle = table->Reopen(file); handle != 0) return handle;
  }
  std::shared_ptr<const File> opened = open(path);
  const std::unique_lock lock(mutex_);
  // Another thread may have opened it meanwhile; then this one is closed, after the lock is released.
  if (const uint32_t handle = table->Reopen(file); handle != 0) return handle;
  return table->Add(file, opened);
}

SegmentHandle Registry::OpenSegment(const std::string& path) { return OpenFile(path, &segments_, Segment::Open); }

VectorHandle Registry::OpenVectors(const std::string& path) {
  return OpenFile(path, &vectors_, vectors::VectorSegment::Open);
}

void Registry::CloseSegment(SegmentHandle handle) {
  std::shared_ptr<const Segment> closing;  // destroyed after the lock is released
  const std::unique_lock lock(mutex_);
  closing = segments_.Close(handle);
  segments_.ForgetDead();
}

void Registry::CloseVectors(VectorHandle handle) {
  std::shared_ptr<const vectors::VectorSegment> closing;  // destroyed after the lock is released
  const std::unique_lock lock(mutex_);
  closing = vectors_.Close(handle);
  vectors_.ForgetDead();
}

std::shared_ptr<const Segment> Registry::FindSegment(SegmentHandle handle) const {
  if (checks_leases_) {
    const std::shared_lock lock(mutex_);
    // A segment that was opened and not published yet belongs to the code that opened it.
    if (published_segments_.contains(handle)) RequireLeasedFile("segment", handle, &PublishedGeneration::handles);
  }
  return OwnSegment(handle);
}

std::shared_ptr<const vectors::VectorSegment> Registry::FindVectors(VectorHandle handle) const {
  if (checks_leases_) {
    const std::shared_lock lock(mutex_);
    if (published_vectors_.contains(handle)) {
      RequireLeasedFile("segment of vectors", handle, &PublishedGeneration::vector_handles);
    }
  }
  return OwnVectors(handle);
}

std::shared_ptr<const Segment> Registry::OwnSegment(SegmentHandle handle) const {
  const std::shared_lock lock(mutex_);
  return segments_.Find(handle);
}

std::shared_ptr<const vectors::VectorSegment> Registry::OwnVectors(VectorHandle handle) const {
  const std::shared_lock lock(mutex_);
  return vectors_.Find(handle);
}

GenerationHandle Registry::AddGeneration(std::shared_ptr<PublishedGeneration> generation) {
  const std::unique_lock lock(mutex_);
  for (PublishedPart& part : generation->parts) {
    if (part.handle == 0) {
      part.handle = ++last_generation_;
      generations_.emplace(part.handle, part.published);
    }
    ++owners_[part.handle];
  }
  generations_.emplace(++last_generation_, std::move(generation));
  return last_generation_;
}

std::shared_ptr<const PublishedGeneration> Registry::FindGeneration(GenerationHandle handle) const {
  if (checks_leases_) {
    const std::shared_lock lock(mutex_);
    RequireLease(handle);
  }
  return OwnGeneration(handle);
}

std::shared_ptr<const PublishedGeneration> Registry::OwnGeneration(GenerationHandle handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = generations_.find(handle);
  if (found == generations_.end()) ThrowUnknown("generation", handle);
  return found->second;
}

void Registry::ReleaseGeneration(GenerationHandle handle) {
  std::shared_ptr<const PublishedGeneration> releasing;  // destroyed after the lock is released
  const std::unique_lock lock(mutex_);
  const auto found = generations_.find(handle);
  if (found == generations_.end()) ThrowUnknown("generation", handle);
  if (owners_.contains(handle)) throw Error(ErrorCode::kInvalidArgument, "a part is released with the generations that have it");
  const auto counted = leases_.find(handle);
  const bool was_counted = counted != leases_.end();
  if (was_counted) {
    if (counted->second > 0) AbortForLease("generation", handle, "was released while it is leased");
    leases_.erase(counted);
    released_.insert(handle);
  }
  releasing = std::move(found->second);
  generations_.erase(found);
  ReleaseParts(*releasing, was_counted);
  segments_.ForgetDead();
  vectors_.ForgetDead();
}

// A search in a part holds its pointer; the part's last files are destroyed with the released generation, after the
// lock is released.
void Registry::ReleaseParts(const PublishedGeneration& generation, bool leases_were_counted) {
  for (const PublishedPart& part : generation.parts) {
    const auto owners = owners_.find(part.handle);
    if (--owners->second > 0) continue;
    owners_.erase(owners);
    generations_.erase(part.handle);
    if (leases_were_counted) released_.insert(part.handle);
  }
}

void Registry::CountLeases(GenerationHandle handle, int by) {
  if (!checks_leases_) throw Error(ErrorCode::kInvalidArgument, "leases are counted in the debug mode only");
  const std::unique_lock lock(mutex_);
  const auto found = generations_.find(handle);
  if (found == generations_.end()) AbortForLease("generation", handle, "was leased after its release");
  int64_t& leases = leases_[handle];
  leases += by;
  if (leases < 0) AbortForLease("generation", handle, "had a lease released twice");
  if (by != 0) return;
  const PublishedGeneration& published = *found->second;
  published_segments_.insert(published.handles.begin(), published.handles.end());
  published_vectors_.insert(published.vector_handles.begin(), published.vector_handles.end());
  for (const PublishedPart& part : published.parts) {
    published_segments_.insert(part.published->handles.begin(), part.published->handles.end());
  }
}

void Registry::RequireLease(GenerationHandle handle) const {
  if (released_.contains(handle)) AbortForLease("generation", handle, "was used after its release");
  if (owners_.contains(handle)) RequireLeaseOfOwner(handle);
  const auto counted = leases_.find(handle);
  if (counted != leases_.end() && counted->second == 0) {
    AbortForLease("generation", handle, "was used without a lease");
  }
}

// Requires that a generation that has the part is leased, or that its leases are not counted.
void Registry::RequireLeaseOfOwner(GenerationHandle part) const {
  for (const auto& [handle, generation] : generations_) {
    const auto counted = leases_.find(handle);
    if (counted != leases_.end() && counted->second == 0) continue;
    if (std::ranges::find(generation->parts, part, &PublishedPart::handle) != generation->parts.end()) return;
  }
  AbortForLease("part", part, "was used without a lease of a generation that has it");
}

void Registry::RequireLeasedFile(const char* what, uint32_t handle, HandlesOf handles_of) const {
  const auto has = [&](const PublishedGeneration& generation) {
    return std::ranges::find(generation.*handles_of, handle) != (generation.*handles_of).end();
  };
  for (const auto& [handle_of_generation, leases] : leases_) {
    if (leases == 0) continue;
    const PublishedGeneration& generation = *generations_.at(handle_of_generation);
    if (has(generation)) return;
    for (const PublishedPart& part : generation.parts) {
      if (has(*part.published)) return;
    }
  }
  AbortForLease(what, handle, "was used without a lease of a generation that has it");
}

}  // namespace gannet::addon
