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

// Names a file by path, device and inode, so that a new file under an old path is not mistaken for the old one. The
// inode of an open file is not given to another.
std::string IdentifyFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path;  // opening it will say what is wrong
  return path + '\0' + std::to_string(status.st_dev) + '\0' + std::to_string(status.st_ino);
}

[[noreturn]] void ThrowUnknown(const char* what, uint32_t handle) {
  throw Error(ErrorCode::kInvalidArgument, std::string("no ") + what + " with the handle " + std::to_string(handle));
}

bool WantsLeaseChecks() {
  const char* wanted = std::getenv("GANNET_KERNEL_CHECK_LEASES");
  return wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

// Ends the process: whoever did this has a fault that an exception might hide.
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

SegmentHandle Registry::Reopen(const std::string& file) {
  const auto found = handles_.find(file);
  if (found == handles_.end()) return 0;
  Entry& entry = segments_.at(found->second);
  if (!entry.segment) entry.segment = entry.held.lock();
  if (!entry.segment) return 0;
  ++entry.open_count;
  return found->second;
}

SegmentHandle Registry::OpenSegment(const std::string& path) {
  const std::string file = IdentifyFile(path);
  {
    const std::unique_lock lock(mutex_);
    if (const SegmentHandle handle = Reopen(file); handle != 0) return handle;
  }
  std::shared_ptr<const Segment> segment = Segment::Open(path);
  const std::unique_lock lock(mutex_);
  // Another thread may have opened it meanwhile; then this one's goes, after the lock.
  if (const SegmentHandle handle = Reopen(file); handle != 0) return handle;
  const SegmentHandle handle = ++last_segment_;
  segments_.insert_or_assign(handle, Entry{file, segment, segment, 1});
  handles_.insert_or_assign(file, handle);
  return handle;
}

void Registry::CloseSegment(SegmentHandle handle) {
  std::shared_ptr<const Segment> closing;  // destroyed after the lock
  const std::unique_lock lock(mutex_);
  const auto found = segments_.find(handle);
  if (found == segments_.end() || found->second.open_count == 0) ThrowUnknown("open segment", handle);
  if (--found->second.open_count > 0) return;
  closing = std::move(found->second.segment);
  found->second.segment.reset();
  ForgetDeadEntries();
}

void Registry::ForgetDeadEntries() {
  for (auto entry = segments_.begin(); entry != segments_.end();) {
    if (entry->second.open_count == 0 && entry->second.held.expired()) {
      const auto named = handles_.find(entry->second.file);
      if (named != handles_.end() && named->second == entry->first) handles_.erase(named);
      entry = segments_.erase(entry);
    } else {
      ++entry;
    }
  }
}

std::shared_ptr<const Segment> Registry::FindSegment(SegmentHandle handle) const {
  if (checks_leases_) {
    const std::shared_lock lock(mutex_);
    RequireLeasedSegment(handle);
  }
  return OwnSegment(handle);
}

std::shared_ptr<const Segment> Registry::OwnSegment(SegmentHandle handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = segments_.find(handle);
  if (found == segments_.end()) ThrowUnknown("open segment", handle);
  std::shared_ptr<const Segment> segment = found->second.segment ? found->second.segment : found->second.held.lock();
  if (!segment) ThrowUnknown("open segment", handle);
  return segment;
}

GenerationHandle Registry::AddGeneration(std::shared_ptr<const PublishedGeneration> generation) {
  const std::unique_lock lock(mutex_);
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
  std::shared_ptr<const PublishedGeneration> releasing;  // destroyed after the lock
  const std::unique_lock lock(mutex_);
  const auto found = generations_.find(handle);
  if (found == generations_.end()) ThrowUnknown("generation", handle);
  if (const auto counted = leases_.find(handle); counted != leases_.end()) {
    if (counted->second > 0) AbortForLease("generation", handle, "was released while it is leased");
    leases_.erase(counted);
    released_.insert(handle);
  }
  releasing = std::move(found->second);
  generations_.erase(found);
  ForgetDeadEntries();
}

void Registry::CountLeases(GenerationHandle handle, int by) {
  if (!checks_leases_) throw Error(ErrorCode::kInvalidArgument, "leases are counted in the debug mode only");
  const std::unique_lock lock(mutex_);
  const auto found = generations_.find(handle);
  if (found == generations_.end()) AbortForLease("generation", handle, "was leased after its release");
  int64_t& leases = leases_[handle];
  leases += by;
  if (leases < 0) AbortForLease("generation", handle, "had a lease released twice");
  if (by == 0) published_segments_.insert(found->second->handles.begin(), found->second->handles.end());
}

void Registry::RequireLease(GenerationHandle handle) const {
  if (released_.contains(handle)) AbortForLease("generation", handle, "was used after its release");
  const auto counted = leases_.find(handle);
  if (counted != leases_.end() && counted->second == 0) {
    AbortForLease("generation", handle, "was used without a lease");
  }
}

void Registry::RequireLeasedSegment(SegmentHandle handle) const {
  if (!published_segments_.contains(handle)) return;  // it was opened and not published yet: whoever opened it holds it
  for (const auto& [generation, leases] : leases_) {
    if (leases == 0) continue;
    const std::vector<SegmentHandle>& handles = generations_.at(generation)->handles;
    if (std::find(handles.begin(), handles.end(), handle) != handles.end()) return;
  }
  AbortForLease("segment", handle, "was used without a lease of a generation that has it");
}

}  // namespace gannet::addon
