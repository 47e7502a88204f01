// Tests all that threads of the service share, used by many at once: the registry, segments with their caches, and mapped
// memory. Run under ThreadSanitizer (`make tsan`). The tests also check what each thread reads.
#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../addon/registry.h"
#include "../kernel/common/error.h"
#include "../kernel/common/mapped_memory.h"
#include "../kernel/terms/completion_lookup.h"
#include "../kernel/terms/context_count.h"
#include "../kernel/terms/expansion_names.h"
#include "../kernel/terms/name_lookup.h"
#include "../kernel/terms/word_expander.h"
#include "../test/check.h"
#include "../test/search_support.h"
#include "../test/segment_fixture.h"

namespace gannet::thread_test {
namespace {

using addon::GenerationHandle;
using addon::PublishedGeneration;
using addon::Registry;
using addon::SegmentHandle;
using segment_test::TemporaryFolder;

constexpr int kReaders = 4;
constexpr int kFiles = 4;
constexpr uint32_t kDocuments = 120;
constexpr int kRounds = 60;

// Segment files of random documents with a small vocabulary, so that documents share words.
class Files {
 public:
  Files() {
    for (int i = 0; i < kFiles; ++i) {
      const auto seed = static_cast<uint32_t>(i);
      BuildSegment(Path(i), segment_test::TestSchema(),
                   segment_test::EncodeBatch(segment_test::RandomDocuments(seed, kDocuments, 120)));
    }
  }
  std::string Path(int i) const { return folder_.File(std::to_string(i)); }
  const std::string& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

// Publishes a generation as the addon does, with the handles of its segments. Two documents of the first are deleted.
GenerationHandle Publish(Registry* registry, const std::vector<SegmentHandle>& handles) {
  std::vector<SegmentView> views;
  for (const SegmentHandle handle : handles) views.push_back({registry->OwnSegment(handle), {}});
  auto published = std::make_shared<PublishedGeneration>();
  published->generation = DeriveGeneration(nullptr, views, {}, {{views[0].segment, {0, 7}}}, "settings");
  published->handles = handles;
  return registry->AddGeneration(std::move(published));
}

QueryPlan PlanOf(std::mt19937* random) {
  QueryPlan plan;
  plan.size = 10;
  plan.groups = {test::Word("wa"), test::Word("wb"), test::Group(Occur::kShould, {{1, {"wa", "wc"}}})};
  plan.sequence = {0, 1};
  plan.whole = {0, 1};
  plan.proximity_weight = 1;
  plan.whole_field_weight = 1;
  if ((*random)() % 2 == 0) plan.facets = {{0, 5}, {1, 5}, {2, 5}};
  return plan;
}

// Makes all calls that a search worker makes on a generation. Returns its number of live documents.
uint64_t Read(const Generation& generation, std::mt19937* random) {
  const std::vector<std::string> words = {"wa", "wab", "w" + std::string(1, static_cast<char>('a' + (*random)() % 26))};
  const std::vector<uint32_t> edits = {1, 2, 1};
  const ExpansionLimits limits{16, 16, 4};
  ExpandWords(generation, words, edits, limits);
  NameExpansions(generation, words, edits, limits);
  CompleteWord(generation, words[2], 0, 8);
  FindNames(generation, "brand", "key1", 1, 8);
  const std::vector<ContextWord> context = {{"wa", "wb"}};
  CountInContext(generation, context, words, 3);
  const std::vector<uint8_t> plan = test::EncodePlan(PlanOf(random));
  Search(generation, plan);
  CollectRecordNumbers(generation, plan);
  const std::vector<std::string_view> terms = {"wa", "wb"};
  DocumentFrequencies(generation, terms);
  for (const SegmentView& view : generation.segments) view.segment->FindDocument(view.segment->record_numbers()[3]);
  return generation.live_count;
}

// Runs threads, and returns the exceptions and problems of all after the last has ended.
class Threads {
 public:
  void Start(std::function<void()> body) {
    threads_.emplace_back([this, body = std::move(body)] {
      try {
        body();
      } catch (const std::exception& error) {
        Report(error.what());
      }
    });
  }
  void Report(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    problems_.push_back(problem);
  }
  std::vector<std::string> Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return problems_;
  }

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<std::string> problems_;
};

// The current generation and its leases, as the main thread keeps them: it is leased before a worker gets it.
class InForce {
 public:
  InForce(Registry* registry, GenerationHandle handle) : registry_(registry), handle_(handle) { Count(handle, 0); }

  GenerationHandle Lease() {
    const std::lock_guard lock(mutex_);
    ++leases_[handle_];
    Count(handle_, 1);
    return handle_;
  }
  void Release(GenerationHandle handle) {
    const std::lock_guard lock(mutex_);
    Count(handle, -1);
    if (--leases_[handle] == 0 && handle != handle_) registry_->ReleaseGeneration(handle);
  }
  void Supersede(GenerationHandle handle) {
    const std::lock_guard lock(mutex_);
    const GenerationHandle before = handle_;
    handle_ = handle;
    Count(handle, 0);
    if (leases_[before] == 0) registry_->ReleaseGeneration(before);
  }
  void End() { registry_->ReleaseGeneration(handle_); }

 private:
  void Count(GenerationHandle handle, int by) {
    if (registry_->checks_leases()) registry_->CountLeases(handle, by);
  }

  Registry* registry_;
  std::mutex mutex_;
  GenerationHandle handle_;
  std::unordered_map<GenerationHandle, int> leases_;
};

// Runs one thread that publishes generations, readers under leases, one that opens and closes the same files, and one that
// trims mappings. Returns the problems found.
std::vector<std::string> Live(bool checks_leases) {
  const Files files;
  Registry registry(checks_leases);
  std::vector<SegmentHandle> handles;
  for (int i = 0; i < kFiles; ++i) handles.push_back(registry.OpenSegment(files.Path(i)));
  InForce in_force(&registry, Publish(&registry, handles));
  std::atomic<bool> done = false;
  Threads threads;
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.Start([&, reader] {
      std::mt19937 random(static_cast<uint32_t>(reader));
      while (!done) {
        const GenerationHandle leased = in_force.Lease();
        const auto published = registry.FindGeneration(leased);
        const uint64_t live = Read(*published->generation, &random);
        if (live + 2 != published->generation->document_count) threads.Report("a deletion is missing");
        for (const SegmentHandle handle : published->handles) registry.FindSegment(handle);
        in_force.Release(leased);
      }
    });
  }
  threads.Start([&] {
    while (!done) {
      for (int i = 0; i < kFiles; ++i) registry.CloseSegment(registry.OpenSegment(files.Path(i)));
    }
  });
  threads.Start([&] {
    while (!done) TrimMappings(files.folder());
  });
  threads.Start([&] {
    for (int round = 0; round < kRounds; ++round) {
      // Each generation has another pair of files. The segments of the one before stay open only as long as readers hold it.
      std::vector<SegmentHandle> pair;
      for (int i = 0; i < 2; ++i) pair.push_back(registry.OpenSegment(files.Path((round + i) % kFiles)));
      in_force.Supersede(Publish(&registry, pair));
      for (const SegmentHandle handle : pair) registry.CloseSegment(handle);
    }
    done = true;
  });
  std::vector<std::string> problems = threads.Join();
  in_force.End();
  for (const SegmentHandle handle : handles) registry.CloseSegment(handle);
  return problems;
}

std::string Joined(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += problem + '\n';
  return text;
}

}  // namespace

TEST(threads_share_the_registry_while_generations_come_and_go) { CHECK_EQ(Joined(Live(false)), ""); }

TEST(threads_share_the_registry_while_it_counts_leases) { CHECK_EQ(Joined(Live(true)), ""); }

TEST(threads_that_open_one_file_get_one_handle_and_leave_nothing_open) {
  const Files files;
  Registry registry(false);
  std::atomic<uint32_t> used = 0;
  Threads threads;
  for (int thread = 0; thread < kReaders; ++thread) {
    threads.Start([&] {
      for (int round = 0; round < kRounds; ++round) {
        const SegmentHandle handle = registry.OpenSegment(files.Path(round % kFiles));
        used += registry.FindSegment(handle)->document_count() == kDocuments;
        registry.CloseSegment(handle);
      }
    });
  }
  CHECK_EQ(Joined(threads.Join()), "");
  CHECK_EQ(used.load(), static_cast<uint32_t>(kReaders * kRounds));
  const SegmentHandle last = registry.OpenSegment(files.Path(0));
  registry.CloseSegment(last);
  CHECK_THROWS(kInvalidArgument, registry.FindSegment(last));
}

TEST(threads_that_share_the_caches_of_a_segment_get_the_same_results) {
  const Files files;
  const auto segment = Segment::Open(files.Path(0));
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  const auto answer = [&](uint32_t word) {
    const std::vector<std::string> words = {"w" + std::string(1, static_cast<char>('a' + word % 26))};
    const std::vector<uint32_t> edits = {1};
    const auto expansion = ExpandWords(*generation, words, edits, {16, 16, 16});
    return expansion[0].typos.size() * 1000 + expansion[0].prefixes.size();
  };
  std::vector<size_t> alone;
  for (uint32_t word = 0; word < 26; ++word) alone.push_back(answer(word));
  // Opens the file again, as a segment with empty caches.
  const auto fresh = Segment::Open(files.Path(0));
  const auto shared = DeriveGeneration(nullptr, {{fresh, {}}}, {}, {}, "");
  Threads threads;
  for (int thread = 0; thread < kReaders; ++thread) {
    threads.Start([&, thread] {
      for (uint32_t round = 0; round < 200; ++round) {
        const uint32_t word = (round * 7 + static_cast<uint32_t>(thread)) % 26;
        const std::vector<std::string> words = {"w" + std::string(1, static_cast<char>('a' + word))};
        const std::vector<uint32_t> edits = {1};
        const auto expansion = ExpandWords(*shared, words, edits, {16, 16, 16});
        NameExpansions(*shared, words, edits, {16, 16, 0});
        CompleteWord(*shared, words[0], 0, 8);
        const size_t found = expansion[0].typos.size() * 1000 + expansion[0].prefixes.size();
        if (found != alone[word]) threads.Report("a thread was told something else about '" + words[0] + "'");
      }
    });
  }
  CHECK_EQ(Joined(threads.Join()), "");
}

TEST(threads_merge_segments_that_others_search) {
  const Files files;
  std::vector<SegmentView> views;
  std::vector<MergeSource> sources;
  for (int i = 0; i < kFiles; ++i) {
    views.push_back({Segment::Open(files.Path(i)), {}});
    sources.push_back({views.back().segment, {}});
  }
  const auto generation = DeriveGeneration(nullptr, views, {}, {}, "");
  std::atomic<bool> done = false;
  Threads threads;
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.Start([&, reader] {
      std::mt19937 random(static_cast<uint32_t>(reader));
      while (!done) Read(*generation, &random);
    });
  }
  threads.Start([&] {
    for (int round = 0; round < 8; ++round) {
      const std::string path = files.folder() + "/merged-" + std::to_string(round);
      const SegmentSummary summary = MergeSegments(path, segment_test::TestSchema(), sources);
      if (summary.document_count != kFiles * kDocuments) threads.Report("a merge lost documents");
    }
    done = true;
  });
  CHECK_EQ(Joined(threads.Join()), "");
}

}  // namespace gannet::thread_test
