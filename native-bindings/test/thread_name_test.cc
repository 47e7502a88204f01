// Tests the names of threads, which the system cuts to 15 bytes.
#include "../kernel/common/thread_name.h"

#include <pthread.h>

#include <array>
#include <thread>

#include "check.h"

namespace gannet::test {
namespace {

std::string OwnName() {
  std::array<char, 64> name{};
  CHECK(pthread_getname_np(pthread_self(), name.data(), name.size()) == 0);
  return name.data();
}

TEST(NameOfAThreadIsSetForThatThreadOnly) {
  const std::string before = OwnName();
  std::thread other([] {
    CHECK(NameThread("gannet-search"));
    CHECK(OwnName() == "gannet-search");
    CHECK(NameThread("gannet-with-a-long-name"));
    CHECK(OwnName() == "gannet-with-a-l");
  });
  other.join();
  CHECK(OwnName() == before);
}

}  // namespace
}  // namespace gannet::test
