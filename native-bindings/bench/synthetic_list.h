// A synthetic list for the micro-benchmarks of the kernel, and helpers to measure on it. Each document has one text field with words
// from a Zipf distribution over 100,000, a number, and a string of 200 values. The list is the same on every run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../test/search_support.h"

namespace gannet::bench {

using namespace gannet::test;
using Clock = std::chrono::steady_clock;

inline constexpr uint32_t kVocabulary = 100'000;
inline constexpr double kBudgetSeconds = 0.15;  // per measurement

inline std::string WordOf(uint32_t rank) {
  std::string word = "w";
  for (uint32_t rest = rank;; rest /= 26) {
    word += static_cast<char>('a' + rest % 26);
    if (rest < 26) return word;
  }
}

// Words drawn from a Zipf distribution.
class ZipfWords {
 public:
  ZipfWords() : cumulative_(kVocabulary) {
    double sum = 0;
    for (uint32_t i = 0; i < kVocabulary; ++i) cumulative_[i] = sum += 1 / (i + 2.7);
    uniform_ = std::uniform_real_distribution<double>(0, sum);
  }
  std::string Word(std::mt19937* random) {
    const auto rank = std::upper_bound(cumulative_.begin(), cumulative_.end(), uniform_(*random)) - cumulative_.begin();
    return WordOf(static_cast<uint32_t>(std::min<ptrdiff_t>(rank, kVocabulary - 1)));
  }

 private:
  std::vector<double> cumulative_;
  std::uniform_real_distribution<double> uniform_;
};

inline std::shared_ptr<const Segment> BuildList(TemporaryFolder* folder, uint32_t documents, uint32_t words) {
  std::mt19937 random(1);
  ZipfWords zipf;
  std::vector<DocumentWriter> writers;
  for (uint32_t i = 0; i < documents; ++i) {
    const uint32_t length = words / 2 + random() % (words + 1);
    std::string text;
    for (uint32_t j = 0; j < length; ++j) text += zipf.Word(&random) + " ";
    DocumentWriter writer(i);
    writer.Text(0, text).Number(0, random() % 10'000 / 100.0).String(1, "brand" + std::to_string(random() % 200));
    writers.push_back(writer);
  }
  const SegmentSchema schema{{1}, {{"price", ColumnType::kNumber, false}, {"brand", ColumnType::kString, false}}};
  return folder->Build(schema, writers);
}

// Returns the median over repeated runs of `action`, in nanoseconds.
template <typename Action>
double MedianNanosecondsOf(const Action& action) {
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || std::chrono::duration<double>(Clock::now() - begin).count() < kBudgetSeconds) {
    const auto start = Clock::now();
    action();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

inline double MedianNanoseconds(const Generation& generation, const QueryPlan& plan) {
  const std::vector<uint8_t> bytes = EncodePlan(plan);
  return MedianNanosecondsOf([&] { Search(generation, bytes); });
}

inline QueryPlan Top(uint32_t size, std::vector<PlanGroup> groups) {
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = size;
  plan.groups = std::move(groups);
  return plan;
}

inline std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

// Returns the term whose document frequency is nearest to `share` of the documents.
inline std::string TermOf(const Generation& generation, double share) {
  struct Nearest : Segment::TermVisitor {
    double wanted = 0;
    double off = INFINITY;
    std::string term;
    bool Visit(std::string_view candidate, uint32_t document_frequency) override {
      const double difference = std::abs(document_frequency - wanted);
      if (difference < off) {
        off = difference;
        term = candidate;
      }
      return true;
    }
  } nearest;
  nearest.wanted = share * static_cast<double>(generation.document_count);
  generation.segments[0].segment->VisitTerms("", &nearest);
  return nearest.term;
}

}  // namespace gannet::bench
