// Measures the nanoseconds per posting that the kernel's search takes on a synthetic list, to score and to count.
//
//   make -C native-bindings build-test/bench-kernel_bench
//   native-bindings/build-test/bench-kernel_bench [documents] [words per document]
//
// The list has words drawn from a Zipf distribution over 100,000, one text field and two columns. Times are medians over
// repeated runs of one query in one thread, with everything in memory. "postings" is the sum of the document frequencies
// of the query's words; for conjunctions the time per posting shows how much was skipped.
#include <cstdio>
#include <cstdlib>

#include "../kernel/terms/term_lookup.h"
#include "synthetic_list.h"

namespace {

using namespace gannet;
using namespace gannet::bench;

void Report(const Generation& generation, const char* what, const QueryPlan& plan) {
  uint64_t postings = 0;
  for (const PlanGroup& group : plan.groups) {
    for (const PlanAlternative& alternative : group.alternatives) {
      for (const uint64_t frequency : DocumentFrequencies(generation, alternative.terms)) postings += frequency;
    }
  }
  const double total = RunSearch(generation, plan).total_count;
  const double nanoseconds = MedianNanoseconds(generation, plan);
  std::printf("%-44s %9.1f us  %8.0f matches  %8llu postings  %6.2f ns/posting\n", what, nanoseconds / 1000, total,
              static_cast<unsigned long long>(postings),
              postings > 0 ? nanoseconds / static_cast<double>(postings) : nanoseconds / generation.document_count);
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t documents = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 200'000;
  const uint32_t words = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 30;
  TemporaryFolder folder;
  const auto built = Clock::now();
  const auto generation = DeriveGeneration(nullptr, {{BuildList(&folder, documents, words), {}}}, {}, {}, "");
  const SegmentMeta& meta = generation->segments[0].segment->meta();
  std::printf("%s; %u documents, %llu terms, %.1f words a document; built in %.1f s\n", Processor().c_str(), documents,
              static_cast<unsigned long long>(meta.term_count), generation->average_length,
              std::chrono::duration<double>(Clock::now() - built).count());
  const std::string half = TermOf(*generation, 0.45);
  const std::string fifth = TermOf(*generation, 0.2);
  const std::string tenth = TermOf(*generation, 0.1);
  const std::string hundredth = TermOf(*generation, 0.01);
  const std::string rare = TermOf(*generation, 0.0005);
  const auto must = [](const std::string& term) { return Word(term, Occur::kMust); };

  Report(*generation, "union 20% + 10%, top 10", Top(10, {Word(fifth), Word(tenth)}));
  Report(*generation, "union 20% + 10%, top 100", Top(100, {Word(fifth), Word(tenth)}));
  Report(*generation, "union 20% + 10%, count", Top(0, {Word(fifth), Word(tenth)}));
  Report(*generation, "union 45% + 20% + 10%, top 10", Top(10, {Word(half), Word(fifth), Word(tenth)}));
  Report(*generation, "union 45% + 20% + 10%, count", Top(0, {Word(half), Word(fifth), Word(tenth)}));
  Report(*generation, "union 1% + 0.05%, top 10", Top(10, {Word(hundredth), Word(rare)}));
  Report(*generation, "word 10%, top 10", Top(10, {Word(tenth)}));
  Report(*generation, "word 0.05%, top 10", Top(10, {Word(rare)}));
  Report(*generation, "and 20% + 10%, top 10", Top(10, {must(fifth), must(tenth)}));
  Report(*generation, "and 20% + 10%, count", Top(0, {must(fifth), must(tenth)}));
  Report(*generation, "and 45% + 1%, top 10", Top(10, {must(half), must(hundredth)}));
  Report(*generation, "and 45% + 0.05%, top 10", Top(10, {must(half), must(rare)}));
  Report(*generation, "phrase 45% 20%, top 10", Top(10, {Group(Occur::kMust, {{1, {half, fifth}}})}));
  Report(*generation, "phrase 10% 1%, top 10", Top(10, {Group(Occur::kMust, {{1, {tenth, hundredth}}})}));
  Report(*generation, "expanded 10% (1, 0.05, 0.05%) + 20%, top 10",
         Top(10, {Group(Occur::kShould, {{1, {tenth}}, {0.7f, {hundredth}}, {0.5f, {rare}}, {0.4f, {WordOf(5000)}}}),
                  Word(fifth)}));
  QueryPlan plan = Top(10, {Word(fifth), Word(tenth)});
  plan.filter = {FilterOp::kLess, 0, {{true, 30, {}}}, {}, {}, 0};
  Report(*generation, "union 20% + 10%, price < 30%, top 10", plan);
  plan.filter = {};
  plan.facets = {{1, 20}};
  Report(*generation, "union 20% + 10%, facet of 200, top 10", plan);
  plan.facets = {};
  plan.sort_keys = {{SortBy::kColumn, false, 0, {}}};
  Report(*generation, "union 20% + 10%, by price, top 10", plan);
  plan.sort_keys = {};
  plan.skip = 20'000;
  Report(*generation, "union 20% + 10%, skip 20,000, top 10", plan);
  plan = Top(10, {});
  plan.filter = {FilterOp::kEqual, 1, {{false, 0, "brand7"}}, {}, {}, 0};
  Report(*generation, "everything, brand = 0.5%, top 10", plan);
  for (const uint32_t distance : {1u, 2u}) {
    const auto start = Clock::now();
    const size_t found = generation->segments[0].segment->spelling().Find(WordOf(31'234) + "x", distance).size();
    std::printf("fuzzy look-up, distance %u: %.2f ms (%zu found)\n", distance,
                std::chrono::duration<double, std::milli>(Clock::now() - start).count(), found);
  }
}
