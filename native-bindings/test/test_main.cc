// Runs the registered tests, or with arguments those whose name contains one of them. TEST_TIMES prints their times.
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "check.h"

int main(int argument_count, char** arguments) {
  int passed = 0;
  int failed = 0;
  for (const auto& test : gannet::test::Tests()) {
    bool wanted = argument_count < 2;
    for (int i = 1; i < argument_count; ++i) wanted = wanted || std::strstr(test.name, arguments[i]) != nullptr;
    if (!wanted) continue;
    gannet::test::failures_of_current_test = 0;
    const std::clock_t began = std::clock();
    try {
      test.run();
    } catch (const std::exception& error) {
      gannet::test::Fail(test.name, 0, std::string("threw: ") + error.what());
    }
    const bool ok = gannet::test::failures_of_current_test == 0;
    if (std::getenv("TEST_TIMES") != nullptr)
      std::fprintf(stderr, "%8.2f s %s\n", static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, test.name);
    ok ? ++passed : ++failed;
    if (!ok) std::fprintf(stderr, "FAILED %s\n", test.name);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
