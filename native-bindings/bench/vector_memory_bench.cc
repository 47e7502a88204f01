// Measures the memory that 10^6 vectors take: a mapped file of the kernel, and a graph of hnswlib in memory. bench/vectors/memory.mjs runs it and makes a table.
//
//   vector_memory_bench rows COUNT DIMENSIONS FILE [SEED]      writes COUNT + 500 rows, made around centres, to FILE if it is missing
//   vector_memory_bench make COUNT DIMENSIONS FILE [SEED]      the same, then builds FILE.gvs and FILE.hnsw if they are missing
//   vector_memory_bench ours|hnswlib COUNT DIMENSIONS FILE     measures one of them in a process that has built nothing
//
// Prints a line when the graph is opened, after 500 searches, and after 20,000 more by other vectors: anonymous bytes of the process (RssAnon) beyond those
// before opening, and bytes of the mapped file in memory (Rss of its mapping; with each page read the system also maps its neighbours).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_segment.h"
#include "../kernel/vectors/vector_writer.h"
#include "vector_rows.h"
#if __has_include(<hnswlib/hnswlib.h>)
#include <hnswlib/hnswlib.h>
#define GANNET_HAS_HNSWLIB 1
#endif

namespace {

using namespace gannet::vectors;
using gannet::bench::Rows;

constexpr uint32_t kQueries = 500;
constexpr uint32_t kMoreQueries = 20'000;
constexpr uint32_t kWanted = 10;
constexpr uint32_t kWidth = 20;
constexpr uint32_t kLinks = 16;
constexpr uint32_t kBuildWidth = 200;
// The memory of hnswlib depends on its number of links, not on the width of the build, so a smaller width saves time.
constexpr uint32_t kBuildWidthOfTheirs = 40;

uint64_t KibibytesOf(const std::string& line) { return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10); }

uint64_t AnonymousBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return KibibytesOf(line) * 1024;
  }
  return 0;
}

// Returns the resident bytes of all mappings of files whose path ends with `file`.
uint64_t MappedBytes(const std::string& file) {
  std::ifstream maps("/proc/self/smaps");
  bool is_of_file = false;
  uint64_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    const bool is_heading = line.find(':') > line.find(' ');
    if (is_heading) is_of_file = line.ends_with(file);
    if (is_of_file && line.starts_with("Rss:")) bytes += KibibytesOf(line) * 1024;
  }
  return bytes;
}

// Reads `count` rows of the file, `step` apart from `first` on. Ends the program if the file is too short.
Rows SomeRows(const std::string& path, uint32_t dimensions, size_t first, size_t count, size_t step) {
  Rows rows{dimensions, std::vector<float>(count * dimensions)};
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  for (size_t i = 0; file && i < count; ++i) {
    const auto at = static_cast<off_t>((first + i * step) * dimensions * sizeof(float));
    if (fseeko(file.get(), at, SEEK_SET) != 0 || std::fread(&rows.values[i * dimensions], sizeof(float), dimensions, file.get()) != dimensions) {
      std::fprintf(stderr, "%s is too short\n", path.c_str());
      std::exit(1);
    }
    Normalize(std::span(rows.values).subspan(i * dimensions, dimensions));
  }
  return rows;
}

struct Asked {
  std::string file;
  uint32_t count;
  uint32_t dimensions;
};

void MakeRows(const Asked& asked, uint32_t seed) {
  if (std::filesystem::exists(asked.file)) return;
  gannet::bench::WriteRows(asked.file, gannet::bench::Made(size_t{asked.count} + kQueries, asked.dimensions, seed));
}

void Make(const Asked& asked) {
  const size_t all = size_t{asked.count} + kQueries;
  Rows rows = gannet::bench::ReadRows(asked.file.c_str(), all, asked.dimensions);
  for (size_t i = 0; i < all; ++i) Normalize(std::span(rows.values).subspan(i * asked.dimensions, asked.dimensions));
  if (!std::filesystem::exists(asked.file + ".gvs")) {
    std::vector<uint32_t> records(asked.count);
    std::iota(records.begin(), records.end(), 0u);
    const std::vector<uint32_t> passages(asked.count);
    const auto values = std::span(rows.values).first(size_t{asked.count} * asked.dimensions);
    BuildVectors(asked.file + ".gvs", {asked.dimensions, values, records, passages}, {kLinks, kBuildWidth});
  }
#if defined(GANNET_HAS_HNSWLIB)
  if (std::filesystem::exists(asked.file + ".hnsw")) return;
  hnswlib::InnerProductSpace space(asked.dimensions);
  hnswlib::HierarchicalNSW<float> theirs(&space, asked.count, kLinks, kBuildWidthOfTheirs);
  for (uint32_t i = 0; i < asked.count; ++i) theirs.addPoint(rows.of(i).data(), i);
  theirs.saveIndex(asked.file + ".hnsw.unfinished");
  std::filesystem::rename(asked.file + ".hnsw.unfinished", asked.file + ".hnsw");
#endif
}

using Way = std::function<void(std::span<const float> query)>;

// Measures the graph that `open` opens. Its result searches and keeps the graph open.
void Measure(const Asked& asked, const char* name, const std::string& mapped, const std::function<Way()>& open) {
  const Rows queries = SomeRows(asked.file, asked.dimensions, asked.count, kQueries, 1);
  const uint32_t step = std::max(1u, asked.count / kMoreQueries);
  const Rows more = SomeRows(asked.file, asked.dimensions, 0, asked.count / step, step);
  const uint64_t before = AnonymousBytes();
  const auto print = [&](const char* when) {
    const uint64_t now = AnonymousBytes();
    std::printf("%s\t%s\t%" PRIu64 " bytes of its own\t%" PRIu64 " bytes mapped\n", name, when, now - std::min(now, before), MappedBytes(mapped));
  };
  const Way search = open();
  print("opened");
  for (uint32_t i = 0; i < kQueries; ++i) search(queries.of(i));
  print("500 searches");
  for (uint32_t i = 0; i < asked.count / step; ++i) search(more.of(i));
  print("20,000 more");
}

void MeasureOurs(const Asked& asked) {
  std::printf("ours\tfile\t%" PRIuMAX " bytes\n", static_cast<uintmax_t>(std::filesystem::file_size(asked.file + ".gvs")));
  Measure(asked, "ours", asked.file + ".gvs", [&]() -> Way {
    const auto segment = VectorSegment::Open(asked.file + ".gvs");
    const auto searcher = std::make_shared<VectorSearcher>();
    return [segment, searcher](std::span<const float> query) {
      searcher->Search(segment->graph(), {.vector = query, .wanted = kWanted, .width = kWidth});
    };
  });
}

#if defined(GANNET_HAS_HNSWLIB)
void MeasureTheirs(const Asked& asked) {
  Measure(asked, "hnswlib", asked.file + ".hnsw", [&]() -> Way {
    const auto space = std::make_shared<hnswlib::InnerProductSpace>(asked.dimensions);
    const auto theirs = std::make_shared<hnswlib::HierarchicalNSW<float>>(space.get(), asked.file + ".hnsw", false, asked.count);
    theirs->setEf(kWidth);
    return [space, theirs](std::span<const float> query) { theirs->searchKnn(query.data(), kWanted); };
  });
}
#endif

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string what = argument_count > 4 ? arguments[1] : "";
  const Asked asked{argument_count > 4 ? arguments[4] : "", static_cast<uint32_t>(argument_count > 4 ? std::atoi(arguments[2]) : 0),
                    static_cast<uint32_t>(argument_count > 4 ? std::atoi(arguments[3]) : 0)};
  if (what == "rows" || what == "make") {
    MakeRows(asked, static_cast<uint32_t>(argument_count > 5 ? std::atoi(arguments[5]) : 7));
    if (what == "make") Make(asked);
  } else if (what == "ours") {
    MeasureOurs(asked);
#if defined(GANNET_HAS_HNSWLIB)
  } else if (what == "hnswlib") {
    MeasureTheirs(asked);
#endif
  } else {
    std::fprintf(stderr, "vector_memory_bench rows|make|ours|hnswlib COUNT DIMENSIONS FILE [SEED]\n");
    return 2;
  }
  return 0;
}
