#include "background_build.h"

#include <unistd.h>

#include <utility>

#include "../common/thread_name.h"

namespace gannet {

BackgroundBuild::BackgroundBuild(std::string path, SegmentSchema schema)
    : path_(std::move(path)),
      builder_(std::make_unique<SegmentBuilder>(std::move(schema))),
      thread_([this] { Run(); }) {}

BackgroundBuild::~BackgroundBuild() { Abandon(); }

void BackgroundBuild::Add(std::span<const uint8_t> documents) {
  std::vector<uint8_t> piece(documents.begin(), documents.end());
  std::unique_lock lock(mutex_);
  if (is_ended_) throw Error(ErrorCode::kInvalidArgument, "documents behind the end of a segment");
  changed_.wait(lock, [&] { return has_failed_ || waiting_.empty() || waiting_bytes_ + piece.size() <= kWaitingBytesMax; });
  if (has_failed_) return;
  waiting_bytes_ += piece.size();
  waiting_.push_back(std::move(piece));
  changed_.notify_all();
}

void BackgroundBuild::End() {
  const std::lock_guard lock(mutex_);
  is_ended_ = true;
  changed_.notify_all();
}

SegmentSummary BackgroundBuild::Finish() {
  End();
  Join();
  if (failure_) std::rethrow_exception(failure_);
  if (!summary_) throw Error(ErrorCode::kInvalidArgument, "the segment was abandoned");
  return *summary_;
}

void BackgroundBuild::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    is_abandoned_ = true;
    changed_.notify_all();
  }
  // If it was joined before, the summary has been returned: the file belongs to the caller of Finish.
  if (!thread_.joinable()) return;
  Join();
  if (summary_) unlink(path_.c_str());
  summary_.reset();
}

void BackgroundBuild::Join() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundBuild::Run() {
  NameThread("gannet-segment");
  // The memory is freed with the thread, and not when this object is destroyed.
  const std::unique_ptr<SegmentBuilder> builder = std::move(builder_);
  try {
    while (const auto piece = Next()) builder->Add(*piece);
    summary_ = builder->Write(path_);
  } catch (...) {
    failure_ = std::current_exception();
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    waiting_.clear();
    changed_.notify_all();
  }
}

std::optional<std::vector<uint8_t>> BackgroundBuild::Next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_ended_ || !waiting_.empty(); });
  if (is_abandoned_) throw Error(ErrorCode::kStopped, "nobody wants the segment any more");
  if (waiting_.empty()) return std::nullopt;
  std::vector<uint8_t> piece = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= piece.size();
  changed_.notify_all();
  return piece;
}

}  // namespace gannet
