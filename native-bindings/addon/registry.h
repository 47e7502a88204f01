// The segments and generations that this process has open, for all of its threads.
//
// One registry lives for the whole process, however many worker threads loaded the addon: a handle is good in every
// thread. It is never destroyed, for a worker may still search while the process exits.
//
// Thread-safety: every method may be called from any thread. Files are opened and segments destroyed outside the
// lock. What a Find method returns stays good after a close or release in another thread.
//
// Leases are TypeScript's: whoever uses a generation, or a segment of one, has to hold one until it is done, else a change
// beside it may take the handle away. In the debug mode (GANNET_KERNEL_CHECK_LEASES=1) they are counted here, and a use
// without one ends the process with a sentence, at the first time that it happens and not at the first time that it hurts.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../kernel/generation/generation.h"
#include "../kernel/segment/segment.h"

namespace gannet::addon {

using SegmentHandle = uint32_t;
using GenerationHandle = uint32_t;

struct PublishedGeneration {
  std::shared_ptr<const Generation> generation;
  std::vector<SegmentHandle> handles;  // of generation->segments, in their order
};

class Registry {
 public:
  static Registry& Instance();

  explicit Registry(bool checks_leases) : checks_leases_(checks_leases) {}

  // The same handle for the same path, for as long as the segment is open or held by a generation; another one when
  // the path has come to name another file.
  SegmentHandle OpenSegment(const std::string& path);
  // Error(kInvalidArgument) where the handle is not open.
  void CloseSegment(SegmentHandle handle);
  // For a use: under a lease of a generation that has it, or by whoever opened it for the first time.
  std::shared_ptr<const Segment> FindSegment(SegmentHandle handle) const;
  // For its owner, who publishes it.
  std::shared_ptr<const Segment> OwnSegment(SegmentHandle handle) const;

  GenerationHandle AddGeneration(std::shared_ptr<const PublishedGeneration> generation);
  // For a use, under a lease.
  std::shared_ptr<const PublishedGeneration> FindGeneration(GenerationHandle handle) const;
  // For its owner, who makes the next one of it.
  std::shared_ptr<const PublishedGeneration> OwnGeneration(GenerationHandle handle) const;
  void ReleaseGeneration(GenerationHandle handle);

  bool checks_leases() const { return checks_leases_; }
  // Debug mode: this many leases more; leases of the generation are counted from the first call on.
  void CountLeases(GenerationHandle handle, int by);

 private:
  struct Entry {
    std::string file;                        // path and identity of the file
    std::shared_ptr<const Segment> segment;  // null once closed as often as opened
    std::weak_ptr<const Segment> held;       // a generation may hold it longer
    uint32_t open_count = 0;
  };

  // The handle of an entry whose segment is alive, opened once more; 0 if there is none. The lock is held.
  SegmentHandle Reopen(const std::string& file);
  void ForgetDeadEntries();
  // Debug mode; the lock is held. Each ends the process where the use is not right.
  void RequireLease(GenerationHandle handle) const;
  void RequireLeasedSegment(SegmentHandle handle) const;

  const bool checks_leases_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<SegmentHandle, Entry> segments_;
  std::unordered_map<std::string, SegmentHandle> handles_;  // by Entry::file
  std::unordered_map<GenerationHandle, std::shared_ptr<const PublishedGeneration>> generations_;
  uint32_t last_segment_ = 0;  // handles count from 1 and are not used twice
  uint32_t last_generation_ = 0;
  // Debug mode. Of the generations whose leases are counted: how many are out, which were released, all of their segments.
  std::unordered_map<GenerationHandle, int64_t> leases_;
  std::unordered_set<GenerationHandle> released_;
  std::unordered_set<SegmentHandle> published_segments_;
};

}  // namespace gannet::addon
