// Measures the unit costs of the kernel: a posting, a block, a facet value, a fuzzy look-up. Prints a line for each: name,
// nanoseconds and what it was measured on, separated by tabs. bench/micro/run.mjs shows them beside their bars.
//
//   unit_costs WORDS      a file with a word of the letters a to z per line, from which a vocabulary is made
#include <cstdio>
#include <string>
#include <vector>

#include "../kernel/terms/term_lookup.h"
#include "../kernel/vocabulary/spelling_index.h"
#include "synthetic_list.h"
#include "word_like_terms.h"

namespace {

using namespace gannet;
using namespace gannet::bench;

constexpr uint32_t kDocuments = 1'000'000;
constexpr uint32_t kWords = 20;
constexpr size_t kTerms = 500'000;
constexpr size_t kMisspeltWords = 300;
constexpr size_t kFuzzyRepeats = 5;  // The median counts for a word.
// Below any score of a match. With this minimum the count depends on scores, so no posting can be skipped.
constexpr float kLeastScore = 1e-6f;

void Print(const char* name, double nanoseconds, const std::string& what) {
  std::printf("%s\t%.3f\t%s\n", name, nanoseconds, what.c_str());
}

std::string Count(double number) { return std::to_string(static_cast<uint64_t>(number)); }

double Postings(const Generation& generation, const std::vector<std::string>& terms) {
  double postings = 0;
  for (const std::string& term : terms) {
    for (const uint64_t frequency : DocumentFrequencies(generation, std::vector<std::string_view>{term})) {
      postings += static_cast<double>(frequency);
    }
  }
  return postings;
}

void MeasurePostings(const Generation& generation) {
  const std::vector<std::string> terms{TermOf(generation, 0.45), TermOf(generation, 0.2), TermOf(generation, 0.1)};
  std::vector<PlanGroup> groups;
  for (const std::string& term : terms) groups.push_back(Word(term));
  const double postings = Postings(generation, terms);
  const std::string what = "union of three words in 45, 20 and 10 % of the documents, " + Count(postings) + " postings";
  QueryPlan plan = Top(10, groups);
  Print("top", MedianNanoseconds(generation, plan) / postings, what);
  plan.minimum_score = kLeastScore;
  Print("scored", MedianNanoseconds(generation, plan) / postings, what);
  Print("counted", MedianNanoseconds(generation, Top(0, groups)) / postings, what);
}

void MeasureBlocks(const Segment& segment, const std::string& term) {
  const PostingList list = segment.FindTerm(term);
  std::array<uint32_t, kBlockSize> values;
  uint32_t kept = 0;
  const auto decode = [&](bool with_frequencies) {
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      list.DecodeDocuments(block, values.data());
      kept += values[0];
      if (with_frequencies) list.DecodeFrequencies(block, values.data());
      kept += values[0];
    }
  };
  const std::string what = Count(list.block_count()) + " blocks of " + Count(kBlockSize);
  const double documents = MedianNanosecondsOf([&] { decode(false); }) / list.block_count();
  const double both = MedianNanosecondsOf([&] { decode(true); }) / list.block_count();
  Print("block-documents", documents, what);
  Print("block-both", both, what + (kept == 0 ? " " : ""));  // Uses the decoded values.
}

void MeasureFacets(const Generation& generation) {
  const std::string term = TermOf(generation, 0.2);
  QueryPlan plan = Top(0, {Word(term)});
  const double without = MedianNanoseconds(generation, plan);
  const double matches = Postings(generation, {term});
  plan.facets = {{1, 20}};
  const double with = MedianNanoseconds(generation, plan);
  Print("facet", (with - without) / matches, Count(matches) + " matches, 200 different values, beyond what counting them costs");
}

void MeasureFuzzy(const char* path) {
  std::ifstream in(path);
  std::vector<std::string> given;
  for (std::string word; std::getline(in, word);) given.push_back(word);
  WordLikeTerms words(std::move(given), 1);
  const std::vector<std::string> terms = words.Distinct(kTerms);
  const std::vector<std::string> misspelt = words.Misspelt(kMisspeltWords);
  SpellingIndexWriter writer;
  for (const std::string& term : terms) writer.Add(term);
  const std::vector<uint32_t> backwards = writer.Backwards();
  const std::string_view text = writer.text();
  const SpellingIndex index({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, writer.offsets(), backwards);
  for (const uint32_t edits : {1u, 2u}) {
    size_t found = 0;
    std::vector<double> times;
    for (const std::string& word : misspelt) {
      found += index.Find(word, edits).size();
      std::vector<double> of_word;
      for (size_t repeat = 0; repeat < kFuzzyRepeats; ++repeat) {
        const auto start = Clock::now();
        index.Find(word, edits);
        of_word.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
      }
      std::ranges::nth_element(of_word, of_word.begin() + kFuzzyRepeats / 2);
      times.push_back(of_word[kFuzzyRepeats / 2]);
    }
    std::sort(times.begin(), times.end());
    double sum = 0;
    for (const double time : times) sum += time;
    const double mean = sum / static_cast<double>(times.size());
    char what[160];
    std::snprintf(what, sizeof what, "%zu terms, mean of %zu misspelt words (p50 %.1f, p99 %.1f us), %.1f terms found",
                  kTerms, misspelt.size(), times[times.size() / 2] / 1000, times[times.size() * 99 / 100] / 1000,
                  static_cast<double>(found) / static_cast<double>(misspelt.size()));
    Print(edits == 1 ? "fuzzy-1" : "fuzzy-2", mean, what);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "unit_costs WORDS\n"), 2;
  MeasureFuzzy(arguments[1]);
  TemporaryFolder folder;
  const auto segment = BuildList(&folder, kDocuments, kWords);
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  MeasurePostings(*generation);
  MeasureBlocks(*segment, TermOf(*generation, 0.05));
  MeasureFacets(*generation);
}
