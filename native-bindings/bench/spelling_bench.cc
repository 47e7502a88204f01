// Measures the look-up of typo candidates by walking the index and by comparing sketches, and the size of the index.
//
//   spelling_bench TERMS QUERIES [EDITS]      files with a word per line
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "../kernel/vocabulary/spelling_index.h"
#include "../kernel/vocabulary/spelling_sketches.h"

using namespace gannet;

namespace {

std::vector<std::string> ReadLines(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

double Microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Prints the times of `find`, which returns the number of terms it found. The least of all rounds counts for a query.
void Measure(const char* way, const std::vector<std::string>& queries, uint32_t edits, const auto& find) {
  constexpr int kRounds = 7;
  std::vector<double> times(queries.size(), std::numeric_limits<double>::max());
  size_t found = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < queries.size(); ++i) {
      const double begin = Microseconds();
      found += find(queries[i]);
      times[i] = std::min(times[i], Microseconds() - begin);
    }
  }
  std::sort(times.begin(), times.end());
  const auto size = static_cast<double>(times.size());
  std::printf("%s, %u edits: mean %.2f us, p50 %.2f, p90 %.2f, p99 %.2f; %.1f terms found\n", way, edits,
              std::accumulate(times.begin(), times.end(), 0.0) / size, times[times.size() / 2], times[times.size() * 9 / 10],
              times[times.size() * 99 / 100], static_cast<double>(found) / size / kRounds);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "spelling_bench TERMS QUERIES [EDITS]\n"), 2;
  const std::vector<std::string> terms = ReadLines(arguments[1]);
  const std::vector<std::string> queries = ReadLines(arguments[2]);
  const uint32_t edits = count > 3 ? static_cast<uint32_t>(std::atoi(arguments[3])) : 1;
  if (terms.empty() || queries.empty()) return std::fprintf(stderr, "both files need words\n"), 2;
  SpellingIndexWriter writer;
  for (const std::string& term : std::set<std::string>(terms.begin(), terms.end())) writer.Add(term);
  double begin = Microseconds();
  const std::vector<uint32_t> backwards = writer.Backwards();
  std::printf("%zu terms, order in %.0f ms, %.1f bytes a term\n", backwards.size(), (Microseconds() - begin) / 1000,
              static_cast<double>(writer.text().size()) / static_cast<double>(backwards.size()) + 8);
  const SpellingIndex index({reinterpret_cast<const uint8_t*>(writer.text().data()), writer.text().size()},
                            writer.offsets(), backwards);
  Measure("walked", queries, edits, [&](const std::string& query) { return index.Find(query, edits).size(); });
  const SpellingSketches sketches(index);
  std::vector<uint32_t> near;
  Measure("compared", queries, edits, [&](const std::string& query) {
    near.clear();
    sketches.FindNear(WordSketch(query), edits, &near);
    return index.FindAmong(near, query, edits).size();
  });
  return 0;
}
