// Compares vector graphs with hnswlib: recall@10 against time on one thread, vectors built per second, and filters.
//
//   vector_bench [COUNT [DIMENSIONS [FILE [SEED [ONLY]]]]]      default 100000 x 128, made around centres by SEED (7)
//
// ONLY is a part of a line's name ("one-sided filter of 50.00 % packed, width 10") or several separated by | ("ours, width|hnswlib"). Only such lines are
// measured; with "building", only the build is. If hnswlib takes longer to build than GANNET_BENCH_MINUTES, its graph is left as FILE.hnsw.unfinished,
// and the same command continues it.
// Settings that were chosen with one seed are reported with another, so that they do not fit its rows and queries.
// FILE has COUNT + 500 rows of f32 and is written if it is missing. The graphs built from it are kept beside it as FILE.gvs and
// FILE.hnsw. bench/vectors/run.mjs compares other engines in the same way.
//
// Prints a line for each: name with setting, recall, and microseconds of processor time per search. A line with a filter also has the ratio of that time to a
// search without a filter of width 20, measured in turns; "as the service asks" (100 wanted, width 100) is compared with the same search without a filter.
// hnswlib is measured if its headers are found: HNSWLIB_DIR=<package hnswlib-node>/src make -C native-bindings bench.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../kernel/vectors/vector_search.h"
#include "../kernel/vectors/vector_segment.h"
#include "../kernel/vectors/vector_writer.h"
#include "../test/bit_filter.h"
#include "vector_rows.h"
#if __has_include(<hnswlib/hnswlib.h>)
#include <hnswlib/hnswlib.h>
#define GANNET_HAS_HNSWLIB 1
#endif

namespace {

using namespace gannet::vectors;
using gannet::bench::Made;
using gannet::bench::ReadRows;
using gannet::bench::Rows;
using gannet::bench::WriteRows;

constexpr uint32_t kQueries = 500;
constexpr uint32_t kWanted = 10;
constexpr int kTurns = 5;
constexpr uint32_t kLinks = 16;
constexpr uint32_t kBuildWidth = 200;
// How many neighbours a search asks for, and its width. Recall looks at the best ten.
struct Setting {
  uint32_t wanted = kWanted;
  uint32_t width;
};
// Setting of the search without a filter that searches with one are compared with.
constexpr Setting kBeside = {.width = 20};
// Setting that the service uses (src/search/plan/meaning-plan.ts), with and without a filter.
constexpr Setting kOfService = {.wanted = 100, .width = 100};

double SecondsOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double ProcessorSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }
double WallSeconds() { return SecondsOf(CLOCK_MONOTONIC); }

// A temporary folder, removed by the destructor.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "vector-bench-XXXXXX").string();
  Folder() {
    if (mkdtemp(path.data()) == nullptr) std::exit(1);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

using Truth = std::vector<std::vector<uint32_t>>;

// Returns the product of each query with each vector.
std::vector<std::vector<float>> ProductsOf(const Rows& rows, uint32_t count) {
  std::vector<std::vector<float>> products(kQueries, std::vector<float>(count));
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t q = 0; q < kQueries; ++q) products[q][i] = Product(rows.of(i), rows.of(count + q));
  }
  return products;
}

Truth TruthOf(const std::vector<std::vector<float>>& products, const std::vector<uint64_t>* bits) {
  Truth truth(kQueries);
  std::vector<uint32_t> all;
  for (uint32_t q = 0; q < kQueries; ++q) {
    all.clear();
    for (uint32_t i = 0; i < products[q].size(); ++i) {
      if (bits == nullptr || ((*bits)[i / 64] >> (i % 64) & 1) != 0) all.push_back(i);
    }
    const size_t wanted = std::min<size_t>(kWanted, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<ptrdiff_t>(wanted), std::greater{}, [&](uint32_t i) { return products[q][i]; });
    truth[q].assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(wanted));
  }
  return truth;
}

// A search method: writes the ordinals found for a query.
using Way = std::function<void(std::span<const float> query, std::vector<uint32_t>* ordinals)>;

// Runs all queries once and returns the microseconds of processor time per query.
double MicrosOf(const Rows& rows, uint32_t count, const Way& way) {
  std::vector<uint32_t> ordinals;
  const double began = ProcessorSeconds();
  for (uint32_t q = 0; q < kQueries; ++q) way(rows.of(count + q), &ordinals);
  return (ProcessorSeconds() - began) / kQueries * 1e6;
}

double MiddleOf(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + kTurns / 2);
  return values[kTurns / 2];
}

// Parts of names, separated by |. Only lines whose name contains one of them are measured.
std::string only;

bool IsMeasured(std::string_view name) {
  for (size_t begin = 0;;) {
    const size_t end = std::min(only.find('|', begin), only.size());
    if (name.find(std::string_view(only).substr(begin, end - begin)) != std::string_view::npos) return true;
    if (end == only.size()) return false;
    begin = end + 1;
  }
}

// Measures `way` and prints its line. With `beside`, both take turns and the ratio of their times is printed as well.
void Measure(const std::string& name, const Rows& rows, uint32_t count, const Truth& truth, const Way& way, const Way* beside = nullptr) {
  if (!IsMeasured(name)) return;
  size_t found = 0;
  size_t there = 0;
  std::vector<uint32_t> ordinals;
  for (uint32_t q = 0; q < kQueries; ++q) {
    way(rows.of(count + q), &ordinals);
    there += truth[q].size();
    for (const uint32_t ordinal : ordinals) found += static_cast<size_t>(std::count(truth[q].begin(), truth[q].end(), ordinal));
  }
  std::vector<double> times;
  std::vector<double> ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    times.push_back(MicrosOf(rows, count, way));
    if (beside != nullptr) ratios.push_back(times.back() / MicrosOf(rows, count, *beside));
  }
  std::printf("%s\trecall %.4f\t%.1f us", name.c_str(), static_cast<double>(found) / static_cast<double>(there), MiddleOf(times));
  if (beside != nullptr) std::printf("\t%.2f of a search without a filter", MiddleOf(ratios));
  std::printf("\n");
  std::fflush(stdout);
}

Way Ours(const VectorGraph& graph, VectorSearcher* searcher, Setting setting, const OrdinalFilter* allowed = nullptr,
         const PassingVectors* passing = nullptr) {
  return [&graph, searcher, setting, allowed, passing](std::span<const float> query, std::vector<uint32_t>* ordinals) {
    ordinals->clear();
    const SearchRequest request{.vector = query, .wanted = setting.wanted, .width = setting.width, .allowed = allowed, .passing = passing};
    for (const Neighbour& neighbour : searcher->Search(graph, request)) ordinals->push_back(neighbour.ordinal);
    ordinals->resize(std::min<size_t>(ordinals->size(), kWanted));
  };
}

struct Filter {
  double share;
  bool is_by_chance;
  bool is_half_deleted = false;
};
constexpr Filter kFilters[] = {
    {0.8, true},  {0.5, true},  {0.35, true},  {0.1, true},  {0.01, true},  {0.001, true},  {0.0001, true},
    {0.8, false}, {0.8, false, true}, {0.5, false}, {0.35, false}, {0.1, false}, {0.01, false}, {0.001, false}, {0.0001, false},
};

// Returns the vectors that pass: chosen at random, or on one side of the space, where few queries are.
std::vector<uint64_t> PassingBits(const Rows& rows, uint32_t count, const Filter& of) {
  const auto [share, is_by_chance, is_half_deleted] = of;
  std::mt19937_64 random(3);
  std::vector<std::pair<float, uint32_t>> order(count);
  for (uint32_t i = 0; i < count; ++i) {
    order[i] = {is_by_chance ? static_cast<float>(random() >> 40) : -Product(rows.of(i), rows.of(0)), i};
  }
  const auto passing = static_cast<ptrdiff_t>(share * count);
  std::nth_element(order.begin(), order.begin() + passing, order.end());
  std::vector<uint64_t> bits(count / 64 + 1);
  for (ptrdiff_t i = 0; i < passing; ++i) bits[order[i].second / 64] |= uint64_t{1} << (order[i].second % 64);
  for (uint64_t& word : bits) word &= is_half_deleted ? random() : ~uint64_t{0};
  return bits;
}

// Measures vectors without a graph, as a batch of an import leaves them until a merge: a search compares each code.
void MeasureWithoutGraph(const Rows& rows, uint32_t count, const Truth& truth, VectorSearcher* searcher) {
  const uint32_t widths[] = {20, 80};
  const auto name = [](uint32_t width) { return "ours without a graph, width " + std::to_string(width); };
  if (!std::ranges::any_of(widths, [&](uint32_t width) { return IsMeasured(name(width)); })) return;
  std::vector<uint32_t> records(count);
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(count);
  const double began = ProcessorSeconds();
  const auto all = std::span(rows.values).first(size_t{count} * rows.dimensions);
  const std::vector<uint8_t> bytes = EncodeVectors({rows.dimensions, all, records, passages}, {.nodes_min = kWithoutGraph});
  std::printf("ours without a graph, building\t%.0f vectors/s\n", count / (ProcessorSeconds() - began));
  const VectorGraph graph(bytes);
  for (const uint32_t width : widths) Measure(name(width), rows, count, truth, Ours(graph, searcher, {.width = width}));
}

// Measures each filter as a search meets it for the first time, prepared, and packed.
void MeasureFilters(const Rows& rows, const std::vector<std::vector<float>>& products, const VectorGraph& graph, VectorSearcher* searcher) {
  const uint32_t count = graph.count();
  VectorSearcher searcher_beside;
  const Way beside = Ours(graph, &searcher_beside, kBeside);
  const Way beside_service = Ours(graph, &searcher_beside, kOfService);
  for (const Filter& of : kFilters) {
    const std::vector<uint64_t> bits = PassingBits(rows, count, of);
    const Truth truth = TruthOf(products, &bits);
    const gannet::test::BitFilter filter(bits);
    const double began = ProcessorSeconds();
    const PassingVectors prepared(graph, bits);
    const double prepared_at = ProcessorSeconds();
    const PassingVectors packed(graph, bits, PassingVectors::kPackedBytesMax);
    const double packed_at = ProcessorSeconds();
    const auto measure = [&](Setting setting, const std::string& asked, const Way& without) {
      const auto as = [&](const char* how, const PassingVectors* passing) {
        char name[96];
        std::snprintf(name, sizeof(name), "%s filter of %.2f %%%s%s, %s", of.is_by_chance ? "random" : "one-sided", of.share * 100,
                      of.is_half_deleted ? " half deleted" : "", how, asked.c_str());
        Measure(name, rows, count, truth, Ours(graph, searcher, setting, &filter, passing), &without);
      };
      as("", nullptr);
      as(" prepared", &prepared);
      if (packed.is_packed()) as(" packed", &packed);
    };
    for (const uint32_t width : {10u, 20u, 40u}) measure({.width = width}, "width " + std::to_string(width), beside);
    measure(kOfService, "as the service asks", beside_service);
    std::printf("prepared in\t%.0f us\n", (prepared_at - began) * 1e6);
    if (packed.is_packed()) std::printf("packed in\t%.0f us\n", (packed_at - prepared_at) * 1e6);
  }
}

// Returns the seconds that the build took, from the file beside the graph; 0 if there is none.
double KeptSeconds(const std::string& file) {
  double seconds = 0;
  std::ifstream(file + ".seconds") >> seconds;
  return seconds;
}

void KeepSeconds(const std::string& file, double seconds) { std::ofstream(file + ".seconds") << seconds; }

void BuildOurs(const std::string& kept, const Rows& rows, uint32_t count) {
  const double began = ProcessorSeconds();
  std::vector<uint32_t> records(count);
  std::iota(records.begin(), records.end(), 0u);
  const std::vector<uint32_t> passages(count);
  const auto values = std::span(rows.values).first(size_t{count} * rows.dimensions);
  BuildVectors(kept, {rows.dimensions, values, records, passages}, {kLinks, kBuildWidth});
  KeepSeconds(kept, ProcessorSeconds() - began);
}

#if defined(GANNET_HAS_HNSWLIB)
// A graph of hnswlib, kept in the file `kept` if that is not empty. Ends the program if the build takes longer than allowed.
class Theirs {
 public:
  Theirs(const Rows& rows, uint32_t count, const std::string& kept)
      : space_(rows.dimensions), graph_(std::make_unique<Graph>(&space_, count, kLinks, kBuildWidth)) {
    const std::string unfinished = kept + ".unfinished";
    // A file without its seconds is of another bench, which builds with a smaller width.
    const std::string& there = std::filesystem::exists(kept) && KeptSeconds(kept) > 0 ? kept : unfinished;
    if (std::filesystem::exists(there)) graph_ = std::make_unique<Graph>(&space_, there, false, count);
    const double seconds = KeptSeconds(kept) + Build(rows, count);
    if (!kept.empty() && there != kept) {
      KeepSeconds(kept, seconds);
      graph_->saveIndex(unfinished);
    }
    if (graph_->getCurrentElementCount() < count) std::exit(0);
    if (std::filesystem::exists(unfinished)) std::filesystem::rename(unfinished, kept);
    std::printf("hnswlib, building\t%.0f vectors/s\n", count / seconds);
  }

  Way Search(uint32_t width) const {
    return [this, width](std::span<const float> query, std::vector<uint32_t>* ordinals) {
      graph_->setEf(width);
      ordinals->clear();
      for (auto found = graph_->searchKnn(query.data(), kWanted); !found.empty(); found.pop()) {
        ordinals->push_back(static_cast<uint32_t>(found.top().second));
      }
    };
  }

 private:
  using Graph = hnswlib::HierarchicalNSW<float>;

  // Adds the missing vectors as far as time allows. Returns the seconds of processor time it took.
  double Build(const Rows& rows, uint32_t count) {
    const char* minutes = std::getenv("GANNET_BENCH_MINUTES");
    const double end = minutes == nullptr ? HUGE_VAL : WallSeconds() + std::atof(minutes) * 60;
    const double began = ProcessorSeconds();
    for (auto next = static_cast<uint32_t>(graph_->getCurrentElementCount()); next < count && WallSeconds() < end; ++next) {
      graph_->addPoint(rows.of(next).data(), next);
    }
    return ProcessorSeconds() - began;
  }

  hnswlib::InnerProductSpace space_;
  std::unique_ptr<Graph> graph_;
};
#endif

}  // namespace

int main(int argument_count, char** arguments) {
  const auto count = static_cast<uint32_t>(argument_count > 1 ? std::atoi(arguments[1]) : 100'000);
  const auto dimensions = static_cast<uint32_t>(argument_count > 2 ? std::atoi(arguments[2]) : 128);
  const size_t all = size_t{count} + kQueries;
  const std::string file = argument_count > 3 ? arguments[3] : "";
  const auto seed = static_cast<uint32_t>(argument_count > 4 ? std::atoi(arguments[4]) : 7);
  if (argument_count > 5) only = arguments[5];
  Rows rows = std::filesystem::exists(file) ? ReadRows(file.c_str(), all, dimensions) : Made(all, dimensions, seed);
  if (!file.empty() && !std::filesystem::exists(file)) WriteRows(file, rows);
  for (size_t i = 0; i < all; ++i) Normalize(std::span(rows.values).subspan(i * dimensions, dimensions));
  const Folder folder;
  const std::string kept = (file.empty() ? folder.path + "/made" : file) + ".gvs";
  if (!std::filesystem::exists(kept) || KeptSeconds(kept) == 0) BuildOurs(kept, rows, count);
  std::printf("ours, building\t%.0f vectors/s\t%.0f bytes a vector\n", count / KeptSeconds(kept),
              static_cast<double>(std::filesystem::file_size(kept)) / count);
#if defined(GANNET_HAS_HNSWLIB)
  const Theirs theirs(rows, count, file.empty() ? "" : file + ".hnsw");
#endif
  if (only == "building") return 0;
  const std::vector<std::vector<float>> products = ProductsOf(rows, count);
  const Truth truth = TruthOf(products, nullptr);
  const double began = WallSeconds();
  const VectorSegment segment(kept);
  const VectorGraph& graph = segment.graph();
  std::printf("ours, opening\t%.0f us\n", (WallSeconds() - began) * 1e6);
  VectorSearcher searcher;
  Measure("ours, as the service asks", rows, count, truth, Ours(graph, &searcher, kOfService));
  for (const uint32_t width : {10u, 14u, 20u, 28u, 40u, 56u, 80u, 120u, 200u, 320u}) {
    Measure("ours, width " + std::to_string(width), rows, count, truth, Ours(graph, &searcher, {.width = width}));
#if defined(GANNET_HAS_HNSWLIB)
    Measure("hnswlib, ef " + std::to_string(width), rows, count, truth, theirs.Search(width));
#endif
  }
  MeasureWithoutGraph(rows, count, truth, &searcher);
  MeasureFilters(rows, products, graph, &searcher);
}
