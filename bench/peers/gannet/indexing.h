// Indexes the corpus again and again in a second thread while queries are timed in the first, as an ingest thread of the
// service does: batches become synced segment files, and as many of equal size as the service merges at a time are merged.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../../native-bindings/kernel/segment/segment_builder.h"
#include "../../../native-bindings/test/segment_fixture.h"

namespace gannet::peer {

// Defaults of the service: ingest.batch_records_max and ingest.merge_fan_in.
inline constexpr uint32_t kBatchRecords = 20'000;
inline constexpr size_t kMergeFanIn = 8;

inline SegmentSchema Schema() { return {{1}, {{"number", ColumnType::kNumber, false}}}; }

// Adds a line of the corpus: a number, a tab, and the words.
inline void AppendRecord(const std::string& line, uint32_t record, test::ByteWriter* documents) {
  const size_t tab = line.find('\t');
  test::DocumentWriter(record)
      .Text(0, std::string_view(line).substr(tab + 1))
      .Number(0, std::stod(line.substr(0, tab)))
      .AppendTo(documents);
}

inline void WriteSegment(const std::string& path, uint32_t count, const test::ByteWriter& documents) {
  test::ByteWriter batch;
  batch.Put(count).Bytes(documents.bytes());
  BuildSegment(path, Schema(), batch.bytes());
}

class IndexingThread {
 public:
  IndexingThread(std::string corpus, std::string folder)
      : corpus_(std::move(corpus)), folder_(std::move(folder) + "/gannet-indexing") {
    std::filesystem::create_directories(folder_);
    thread_ = std::thread([this] { Run(); });
  }
  IndexingThread(const IndexingThread&) = delete;
  IndexingThread& operator=(const IndexingThread&) = delete;

  // Ends the thread and returns the records indexed per second.
  double Stop() {
    stopping_ = true;
    cancelled_ = true;
    thread_.join();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
    std::filesystem::remove_all(folder_);
    return static_cast<double>(records_) / time.count();
  }

 private:
  struct Built {
    std::string path;
    std::shared_ptr<const Segment> segment;
  };

  void Run() {
    while (!stopping_) {
      tiers_.clear();
      std::ifstream in(corpus_);
      test::ByteWriter documents;
      uint32_t count = 0;
      for (std::string line; !stopping_ && std::getline(in, line);) {
        AppendRecord(line, next_record_++, &documents);
        if (++count < kBatchRecords) continue;
        Commit(count, documents);
        documents = {};
        count = 0;
      }
    }
  }

  void Commit(uint32_t count, const test::ByteWriter& documents) {
    const std::string path = NextPath();
    WriteSegment(path, count, documents);
    records_ += count;
    Keep(0, {path, Segment::Open(path)});
  }

  void Keep(size_t tier, Built built) {
    if (tier == tiers_.size()) tiers_.emplace_back();
    tiers_[tier].push_back(std::move(built));
    if (tiers_[tier].size() < kMergeFanIn) return;
    std::vector<MergeSource> sources;
    for (const Built& each : tiers_[tier]) sources.push_back({each.segment, {}});
    const std::string path = NextPath();
    try {
      MergeSegments(path, Schema(), sources, &cancelled_);
    } catch (const Error&) {
      if (stopping_) return;
      throw;
    }
    sources.clear();
    for (const Built& each : tiers_[tier]) std::filesystem::remove(each.path);
    tiers_[tier].clear();
    Keep(tier + 1, {path, Segment::Open(path)});
  }

  std::string NextPath() { return folder_ + "/" + std::to_string(next_++) + ".mdb"; }

  const std::string corpus_;
  const std::string folder_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopping_ = false;
  volatile bool cancelled_ = false;  // For MergeSegments.
  std::atomic<uint64_t> records_ = 0;
  std::vector<std::vector<Built>> tiers_;
  uint64_t next_ = 0;
  uint32_t next_record_ = 0;
  std::thread thread_;
};

}  // namespace gannet::peer
