// Runs a fuzz target without libFuzzer, hence with any compiler: each seed once, then mutations of the seeds for some time.
//
//   fuzz-smoke-<name> --seconds 30 --seed 7 --crash-file FILE      runs mutations; an input that crashes or hangs is left in FILE
//   fuzz-smoke-<name> --write-seeds FOLDER                         writes the seeds as files, a corpus for libFuzzer
//   fuzz-smoke-<name> FILE...                                      runs each file once, such as a crash file
#include <sanitizer/common_interface_defs.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "mutator.h"

namespace gannet::fuzz {
namespace {

// Processor time after which an input counts as hanging, on a busy machine, too. Ten times as much wall time counts as well.
constexpr unsigned kInputSecondsMax = 20;

struct Options {
  double seconds = 30;
  uint64_t seed = 1;
  std::string crash_file;
  std::string seed_folder;
  std::vector<std::string> files;
};

// Current input, number of inputs run, and the file for the input, for the handlers of a crash or hang.
const Input* current = nullptr;
uint64_t runs = 0;
std::string crash_file;

void LeaveCrashFile() {
  if (current == nullptr || crash_file.empty()) return;
  std::FILE* file = std::fopen(crash_file.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current->data(), 1, current->size(), file);
  std::fclose(file);
  std::fprintf(stderr, "input %llu is left in %s\n", static_cast<unsigned long long>(runs), crash_file.c_str());
}

void OnHang(int) {
  std::fprintf(stderr, "an input took more than %u s\n", kInputSecondsMax);
  LeaveCrashFile();
  _exit(1);
}

// Sets the limits from now on; 0 removes them.
void LimitTime(unsigned seconds) {
  const itimerval timer{{0, 0}, {static_cast<time_t>(seconds), 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(10 * seconds);
}

void Run(const Input& input) {
  current = &input;
  ++runs;
  LimitTime(kInputSecondsMax);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  LimitTime(0);
  current = nullptr;
}

Input ReadInput(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

[[noreturn]] void Refuse(const char* argument) {
  std::fprintf(stderr, "unknown argument, or one without its value: %s (see fuzz/driver.cc)\n", argument);
  std::exit(2);
}

Options ReadOptions(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name.rfind("--", 0) != 0) {
      options.files.push_back(name);
      continue;
    }
    if (i + 1 == count) Refuse(arguments[i]);
    const char* value = arguments[++i];
    if (name == "--seconds") {
      options.seconds = std::atof(value);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--crash-file") {
      options.crash_file = value;
    } else if (name == "--write-seeds") {
      options.seed_folder = value;
    } else {
      Refuse(arguments[i - 1]);
    }
  }
  return options;
}

void WriteSeeds(const std::string& folder) {
  int number = 0;
  for (const Input& seed : Seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
}

void Fuzz(const Options& options) {
  const std::vector<Input> seeds = Seeds();
  for (const Input& seed : seeds) Run(seed);
  Mutator mutator(seeds, options.seed);
  // Limits processor time, so that a busy machine runs as many inputs, only later.
  const std::clock_t begin = std::clock();
  const auto used = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  while (used() < options.seconds) Run(mutator.Next());
  std::printf("%llu inputs of seed %llu in %.0f s of a processor\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(options.seed), used());
}

}  // namespace
}  // namespace gannet::fuzz

// Makes a trap of the target a finding like any other.
extern "C" const char* __asan_default_options() { return "handle_abort=1:handle_sigill=1:detect_leaks=1"; }

int main(int count, char** arguments) {
  using namespace gannet::fuzz;
  const Options options = ReadOptions(count, arguments);
  crash_file = options.crash_file;
  __sanitizer_set_death_callback(LeaveCrashFile);
  std::signal(SIGALRM, OnHang);
  std::signal(SIGPROF, OnHang);
  if (!options.seed_folder.empty()) {
    WriteSeeds(options.seed_folder);
  } else if (!options.files.empty()) {
    for (const std::string& path : options.files) Run(ReadInput(path));
  } else {
    Fuzz(options);
  }
  return 0;
}
