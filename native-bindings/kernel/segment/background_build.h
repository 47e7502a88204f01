// A segment that a thread of its own builds while its documents still come, so that whoever makes them goes on meanwhile.
//
// What the thread throws is thrown by Finish. Until Finish has returned nobody may count on the file; after Abandon, and where the build
// fails, none is there.
//
// Thread-safety: one thread, that of whoever gives the documents. The thread that builds has its priority.
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
  // What may wait to be built: beyond it, Add waits for the builder, which is slower only where the processors are taken.
  static constexpr size_t kWaitingBytesMax = 2u << 20;

  // Checks the schema as BuildSegment does. std::system_error where the process may have no other thread.
  BackgroundBuild(std::string path, SegmentSchema schema);
  // Abandons what is not finished.
  ~BackgroundBuild();
  BackgroundBuild(const BackgroundBuild&) = delete;
  BackgroundBuild& operator=(const BackgroundBuild&) = delete;

  // Whole documents, as SegmentBuilder::Add takes them; copied. Throws nothing of the build: what has failed is told by Finish.
  void Add(std::span<const uint8_t> documents);
  // No document follows: the file is written from here on. Error(kInvalidArgument) for any that follows all the same.
  void End();
  // Ends, waits, and returns what BuildSegment returns, or throws what it throws. May be called again.
  SegmentSummary Finish();
  // Waits until the thread has ended; no file is left.
  void Abandon();

 private:
  void Run();
  // The next piece; none where no more come. Throws where nobody wants the segment.
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
  // Of the thread, until it is joined.
  std::optional<SegmentSummary> summary_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace gannet
