// The open segments and generations of this process, for all of its threads.
//
// There is one registry per process, however many worker threads load the addon: a handle is valid in every thread. It
// is never destroyed, because a worker may still search while the process exits.
//
// Thread-safety: every method may be called from any thread. Files are opened and segments are destroyed outside the
// lock. The result of a Find method stays valid after a close or release in another thread.
//
// TypeScript manages the leases: code that uses a generation, or a segment of one, must hold a lease until it is done,
// or else a concurrent change may invalidate the handle. In debug mode (GANNET_KERNEL_CHECK_LEASES=1) leases are
// counted here, and a use without one ends the process with a message when it first happens, not when it first does
// harm.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../kernel/common/error.h"
#include "../kernel/generation/generation.h"
#include "../kernel/segment/segment.h"

namespace gannet::addon {

using SegmentHandle = uint32_t;
using VectorHandle = uint32_t;
using GenerationHandle = uint32_t;

struct PublishedPart;

struct PublishedGeneration {
  std::shared_ptr<const Generation> generation;
  std::vector<SegmentHandle> handles;        // of generation->segments, in the same order
  std::vector<VectorHandle> vector_handles;  // of generation->vectors
  std::vector<PublishedPart> parts;          // with different names
};

// A part of the list's records (kernel/sources/part_source.h): a generation with a handle of its own, which is valid as
// long as any generation that has the part. Generations share a part that did not change.
struct PublishedPart {
  std::string name;
  std::shared_ptr<const PublishedGeneration> published;
  GenerationHandle handle = 0;  // set by Registry::AddGeneration if it is 0
};

// Open files of one kind, by handle. Thread-safety: none; the registry locks.
template <typename File>
class FileTable {
 public:
  using Pointer = std::shared_ptr<const File>;

  explicit FileTable(const char* what) : what_(what) {}

  // Opens a file once more if it is still in memory and returns its handle; 0 if it is not.
  uint32_t Reopen(const std::string& file) {
    const auto found = handles_.find(file);
    if (found == handles_.end()) return 0;
    Entry& entry = entries_.at(found->second);
    if (!entry.open) entry.open = entry.held.lock();
    if (!entry.open) return 0;
    ++entry.open_count;
    closed_.erase(found->second);
    return found->second;
  }
  uint32_t Add(const std::string& file, Pointer opened) {
    const uint32_t handle = ++last_;
    entries_.insert_or_assign(handle, Entry{file, opened, opened, 1});
    handles_.insert_or_assign(file, handle);
    return handle;
  }
  // Closes a handle once. Returns the file, to be destroyed after the lock is released; null if it is still open.
  // Throws Error(kInvalidArgument) if it is not open.
  Pointer Close(uint32_t handle) {
    const auto found = entries_.find(handle);
    if (found == entries_.end() || found->second.open_count == 0) ThrowUnknown(handle);
    if (--found->second.open_count > 0) return nullptr;
    closed_.insert(handle);
    return std::exchange(found->second.open, nullptr);
  }
  Pointer Find(uint32_t handle) const {
    const auto found = entries_.find(handle);
    if (found == entries_.end()) ThrowUnknown(handle);
    Pointer file = found->second.open ? found->second.open : found->second.held.lock();
    if (!file) ThrowUnknown(handle);
    return file;
  }
  // Checks only closed files: each commit of each list calls this, and there are thousands of lists.
  void ForgetDead() {
    for (auto closed = closed_.begin(); closed != closed_.end();) {
      const auto entry = entries_.find(*closed);
      if (!entry->second.held.expired()) {
        ++closed;
        continue;
      }
      const auto named = handles_.find(entry->second.file);
      if (named != handles_.end() && named->second == entry->first) handles_.erase(named);
      entries_.erase(entry);
      closed = closed_.erase(closed);
    }
  }

 private:
  struct Entry {
    std::string file;               // path and identity of the file
    Pointer open;                   // null once it was closed as often as it was opened
    std::weak_ptr<const File> held;  // a generation may keep it alive
    uint32_t open_count = 0;
  };
  [[noreturn]] void ThrowUnknown(uint32_t handle) const {
    throw Error(ErrorCode::kInvalidArgument, "no open " + std::string(what_) + " with the handle " + std::to_string(handle));
  }

  const char* what_;
  std::unordered_map<uint32_t, Entry> entries_;
  std::unordered_map<std::string, uint32_t> handles_;  // by Entry::file
  std::unordered_set<uint32_t> closed_;                // entries that are closed, but may be kept alive
  uint32_t last_ = 0;                                  // handles count from 1 and are never reused
};

class Registry {
 public:
  static Registry& Instance();

  explicit Registry(bool checks_leases) : checks_leases_(checks_leases) {}

  // Returns the same handle for the same path as long as the segment is open or a generation has it; a new one if the
  // path refers to another file by now.
  SegmentHandle OpenSegment(const std::string& path);
  // Throws Error(kInvalidArgument) if the handle is not open.
  void CloseSegment(SegmentHandle handle);
  // For use under a lease of a generation that has the segment, or by the code that opened it before it is published.
  std::shared_ptr<const Segment> FindSegment(SegmentHandle handle) const;
  // For the owner of the segment, who publishes it.
  std::shared_ptr<const Segment> OwnSegment(SegmentHandle handle) const;

  // The same for segments of vectors.
  VectorHandle OpenVectors(const std::string& path);
  void CloseVectors(VectorHandle handle);
  std::shared_ptr<const vectors::VectorSegment> FindVectors(VectorHandle handle) const;
  std::shared_ptr<const vectors::VectorSegment> OwnVectors(VectorHandle handle) const;

  GenerationHandle AddGeneration(std::shared_ptr<PublishedGeneration> generation);
  // For use under a lease.
  std::shared_ptr<const PublishedGeneration> FindGeneration(GenerationHandle handle) const;
  // For the owner, who derives the next generation from it.
  std::shared_ptr<const PublishedGeneration> OwnGeneration(GenerationHandle handle) const;
  void ReleaseGeneration(GenerationHandle handle);

  bool checks_leases() const { return checks_leases_; }
  // Debug mode: adds `by` leases. The leases of a generation are counted from the first call on.
  void CountLeases(GenerationHandle handle, int by);

 private:
  template <typename File, typename Open>
  uint32_t OpenFile(const std::string& path, FileTable<File>* table, Open&& open);
  void ReleaseParts(const PublishedGeneration& generation, bool leases_were_counted);
  // Debug mode, with the lock held: each ends the process if the use is not allowed.
  void RequireLease(GenerationHandle handle) const;
  void RequireLeaseOfOwner(GenerationHandle part) const;
  using HandlesOf = std::vector<uint32_t> PublishedGeneration::*;
  void RequireLeasedFile(const char* what, uint32_t handle, HandlesOf handles_of) const;

  const bool checks_leases_;
  mutable std::shared_mutex mutex_;
  FileTable<Segment> segments_{"segment"};
  FileTable<vectors::VectorSegment> vectors_{"segment of vectors"};
  std::unordered_map<GenerationHandle, std::shared_ptr<const PublishedGeneration>> generations_;
  uint32_t last_generation_ = 0;  // handles count from 1 and are never reused
  std::unordered_map<GenerationHandle, uint32_t> owners_;  // by part: number of generations that have it
  // Debug mode: the number of leases per generation whose leases are counted, the released generations, and all of
  // their segments.
  std::unordered_map<GenerationHandle, int64_t> leases_;
  std::unordered_set<GenerationHandle> released_;
  std::unordered_set<SegmentHandle> published_segments_;
  std::unordered_set<VectorHandle> published_vectors_;
};

}  // namespace gannet::addon
