// Measures building, opening, merging and decoding of segments, and prints the figures that docs/ quotes.
//
//   make -C native-bindings bench && build-test/bench-segment_bench FILE
//
// FILE is one batch of document_batch.h with three text fields, a multi-valued string column and a date column (title,
// abstract, authors; categories; created of the arXiv records). The files are in the page cache.
// Times are processor time, not wall time.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "../kernel/analysis/analyzer.h"
#include "../kernel/common/bytes.h"
#include "../kernel/common/file.h"
#include "../kernel/segment/document_batch.h"
#include "../kernel/segment/lmdb_check.h"
#include "../kernel/segment/segment_builder.h"

namespace gannet {
namespace {

// Returns the user and system processor time of this process, which other processes disturb less than wall time.
double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double Seconds(const std::function<void()>& action) {
  const double begin = ProcessorSeconds();
  action();
  return ProcessorSeconds() - begin;
}

double PeakMebibytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Returns a batch of the documents [first, last) of `batch`, and the bytes of their text.
std::vector<uint8_t> Slice(std::span<const uint8_t> batch, uint32_t first, uint32_t last, uint64_t* text_bytes) {
  ByteReader reader(batch);
  const uint32_t count = std::min(reader.Integer<uint32_t>(), last);
  std::vector<uint8_t> bytes;
  AppendInteger(&bytes, count - first);
  *text_bytes = 0;
  for (uint32_t document = 0; document < count; ++document) {
    const uint8_t* begin = reader.position();
    reader.Integer<uint32_t>();
    ByteReader entries(reader.Bytes(reader.Integer<uint32_t>()));
    if (document < first) continue;
    AppendBytes(&bytes, {begin, static_cast<size_t>(reader.position() - begin)});
    while (entries.remaining() > 0) {
      const auto kind = static_cast<EntryKind>(entries.Integer<uint8_t>());
      entries.Integer<uint16_t>();
      if (kind == EntryKind::kText) *text_bytes += entries.Text().size();
      if (kind == EntryKind::kString) entries.Text(), entries.Text();
      if (kind == EntryKind::kNumber) entries.Integer<double>();
    }
  }
  return bytes;
}

void AnalyseAll(std::span<const uint8_t> batch) {
  ByteReader reader(batch);
  Analyzer analyzer;
  Token token;
  uint64_t tokens = 0;
  for (uint32_t left = reader.Integer<uint32_t>(); left > 0; --left) {
    reader.Integer<uint32_t>();
    ByteReader entries(reader.Bytes(reader.Integer<uint32_t>()));
    while (entries.remaining() > 0) {
      const auto kind = static_cast<EntryKind>(entries.Integer<uint8_t>());
      entries.Integer<uint16_t>();
      if (kind == EntryKind::kText) {
        analyzer.Reset(entries.Text());
        while (analyzer.Next(&token)) ++tokens;
      }
      if (kind == EntryKind::kString) entries.Text(), entries.Text();
      if (kind == EntryKind::kNumber) entries.Integer<double>();
    }
  }
  std::printf("  (%.1f M tokens)\n", static_cast<double>(tokens) / 1e6);
}

void Run(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<uint8_t> batch((std::istreambuf_iterator<char>(stream)), {});
  const SegmentSchema schema{{3, 1, 1},
                             {{"categories", ColumnType::kString, true}, {"created", ColumnType::kDate, false}}};
  const std::string folder = std::string(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") + "/gannet-bench";
  uint64_t text = 0;
  const auto all = Slice(batch, 0, ~0u, &text);
  const double megabytes = static_cast<double>(text) / 1e6;
  std::printf("%.0f MB of text\n", megabytes);
  const double analysis = Seconds([&] { AnalyseAll(all); });
  std::printf("analysis alone  %6.2f s  %6.1f MB/s\n", analysis, megabytes / analysis);
  const double before = PeakMebibytes();
  SegmentSummary summary;
  const double build = Seconds([&] { summary = BuildSegment(folder + ".all", schema, all); });
  std::printf("build           %6.2f s  %6.1f MB/s  (without analysis %.1f MB/s), %.1f MB file, peak +%.0f MiB\n",
              build, megabytes / build, megabytes / (build - analysis), static_cast<double>(summary.file_bytes) / 1e6,
              PeakMebibytes() - before);
  const double check = Seconds([&] { CheckLmdbFile(MappedFile(folder + ".all").bytes()); });
  std::shared_ptr<const Segment> segment;
  const double open = Seconds([&] { segment = Segment::Open(folder + ".all"); });
  std::printf("open            %6.2f ms, of which the structure check %.2f ms\n", open * 1e3, check * 1e3);

  uint64_t postings = 0;
  uint64_t singles = 0;
  uint64_t occurrences = 0;
  std::vector<PostingList> lists;
  const double terms = Seconds([&] {
    for (auto cursor = segment->Terms(""); cursor->Next();) {
      lists.push_back(cursor->Postings());
      postings += lists.back().document_frequency();
      singles += lists.back().document_frequency() == 1;
      occurrences += lists.back().total_occurrences();
    }
  });
  std::printf("%zu terms (%.0f %% in one document), %.1f M postings, %.1f M occurrences: %.2f bytes a posting\n",
              lists.size(), 100.0 * static_cast<double>(singles) / static_cast<double>(lists.size()),
              static_cast<double>(postings) / 1e6, static_cast<double>(occurrences) / 1e6,
              static_cast<double>(summary.file_bytes) / static_cast<double>(postings));
  std::printf("walk of terms   %6.1f ns a term\n", terms * 1e9 / static_cast<double>(lists.size()));
  uint32_t values[kBlockSize];
  uint64_t long_postings = 0;
  const auto each_block = [&](const auto& action) {
    long_postings = 0;
    for (const PostingList& list : lists) {
      if (list.block_count() < 8) continue;
      for (uint32_t block = 0; block < list.block_count(); ++block) action(list, block);
      long_postings += list.document_frequency();
    }
  };
  const double documents =
      Seconds([&] { each_block([&](auto& list, auto block) { list.DecodeDocuments(block, values); }); });
  const double frequencies =
      Seconds([&] { each_block([&](auto& list, auto block) { list.DecodeFrequencies(block, values); }); });
  const double per_posting = 1e9 / static_cast<double>(long_postings);
  std::printf("decode          %6.2f ns a document, %.2f ns a frequency\n", documents * per_posting,
              frequencies * per_posting);

  std::vector<MergeSource> sources;
  for (uint32_t part = 0; part < 10; ++part) {
    uint64_t ignored;
    const std::string path = folder + "." + std::to_string(part);
    BuildSegment(path, schema, Slice(all, part * 20000, (part + 1) * 20000, &ignored));
    sources.push_back({Segment::Open(path), {}});
    unlink(path.c_str());
  }
  SegmentSummary merged;
  const double merge = Seconds([&] { merged = MergeSegments(folder + ".merged", schema, sources); });
  std::printf("merge of 10     %6.2f s  %6.1f MB/s of text, %.1f MB file\n", merge, megabytes / merge,
              static_cast<double>(merged.file_bytes) / 1e6);
  const double verify = Seconds([&] { std::printf("verify: '%s'", VerifySegment(folder + ".merged").c_str()); });
  std::printf("  %6.2f s\n", verify);
  unlink((folder + ".all").c_str());
  unlink((folder + ".merged").c_str());
}

}  // namespace
}  // namespace gannet

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s BATCH\n", arguments[0]);
    return 2;
  }
  gannet::Run(arguments[1]);
  return 0;
}
