// Time and size of the look-up of typo candidates.
//
//   spelling_bench TERMS QUERIES [EDITS]      files with a word a line
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "../kernel/vocabulary/spelling_index.h"

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

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "spelling_bench TERMS QUERIES [EDITS]\n"), 2;
  const std::vector<std::string> terms = ReadLines(arguments[1]);
  const std::vector<std::string> queries = ReadLines(arguments[2]);
  const uint32_t edits = count > 3 ? static_cast<uint32_t>(std::atoi(arguments[3])) : 1;
  SpellingIndexWriter writer;
  for (const std::string& term : std::set<std::string>(terms.begin(), terms.end())) writer.Add(term);
  double begin = Microseconds();
  const std::vector<uint32_t> backwards = writer.Backwards();
  std::printf("%zu terms, order in %.0f ms, %.1f bytes a term\n", backwards.size(), (Microseconds() - begin) / 1000,
              static_cast<double>(writer.text().size()) / static_cast<double>(backwards.size()) + 8);
  const SpellingIndex index({reinterpret_cast<const uint8_t*>(writer.text().data()), writer.text().size()},
                            writer.offsets(), backwards);
  std::vector<double> times;
  size_t found = 0;
  for (int round = 0; round < 5; ++round) {
    for (const std::string& query : queries) {
      begin = Microseconds();
      found += index.Find(query, edits).size();
      if (round > 0) times.push_back(Microseconds() - begin);
    }
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += time;
  const auto size = static_cast<double>(times.size());
  std::printf("%u edits: mean %.1f us, p50 %.1f, p90 %.1f, p99 %.1f; %.1f terms found\n", edits, sum / size,
              times[times.size() / 2], times[times.size() * 9 / 10], times[times.size() * 99 / 100],
              static_cast<double>(found) / size * 4 / 5);
  return 0;
}
