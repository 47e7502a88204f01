// Builds a segment in a thread of its own while its documents still arrive, so that the thread that makes them can go
// on.
//
// Finish throws what the building thread has thrown. The file must not be relied on before Finish has returned. After
// Abandon, and if the build fails, no file is left.
//
// Thread-safety: one thread, the one that gives the documents. The building thread runs at the same priority.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "segment_builder.h"

namespace gannet {

class BackgroundBuild {
 public:
  // Maximum number of bytes that wait to be built. If there are more, Add waits for the builder, which is the slower
  // side only if the processors are busy.
  static constexpr size_t kWaitingBytesMax = 2u << 20;

  // Checks the schema as BuildSegment does. Throws std::system_error if the process cannot start another thread.
  BackgroundBuild(std::string path, SegmentSchema schema);
  // Abandons the build unless it was finished.
  ~BackgroundBuild();
  BackgroundBuild(const BackgroundBuild&) = delete;
  BackgroundBuild& operator=(const BackgroundBuild&) = delete;

  // Adds a copy of whole documents, in the encoding of SegmentBuilder::Add. Does not throw errors of the build: Finish
  // does.
  void Add(std::span<const uint8_t> documents);
  // Ends the documents: the file is written from here on. A later Add throws Error(kInvalidArgument).
  void End();
  // Ends the documents, waits for the thread, and returns or throws what BuildSegment does. May be called again.
  SegmentSummary Finish();
  // Stops the build, waits until the thread has ended, and leaves no file.
  void Abandon();

 private:
  void Run();
  // Returns the next piece, or nothing after the last one. Throws if the build was abandoned.
  std::optional<std::vector<uint8_t>> Next();
  void Join();

  const std::string path_;
  std::unique_ptr<SegmentBuilder> builder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<uint8_t>> waiting_;
  size_t waiting_bytes_ = 0;
  bool is_ended_ = false;
  bool is_abandoned_ = false;
  bool has_failed_ = false;
  // Written by the thread; not to be read until it is joined.
  std::optional<SegmentSummary> summary_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace gannet
