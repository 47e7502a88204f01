// Tests the slices of threads: the system has the requested slice afterwards, or nothing has changed.
#include "../kernel/common/thread_slice.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "check.h"

namespace gannet::test {
namespace {

struct Attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns, deadline_ns, period_ns;
};

Attributes Of(pid_t thread) {
  Attributes attributes{};
  CHECK(syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) == 0);
  return attributes;
}

TEST(SliceOfAThreadIsSetForThatThreadOnly) {
  const Attributes before = Of(0);
  std::thread other([&] {
    // Lowers the priority first, as threads of imports do.
    CHECK(setpriority(PRIO_PROCESS, 0, 5) == 0);
    const bool is_set = SetThreadSlice(100);
    CHECK(is_set == (Of(0).runtime_ns == 100'000'000));
    CHECK(Of(0).nice == 5);
  });
  other.join();
  CHECK(Of(0).runtime_ns == before.runtime_ns);
}

TEST(SliceOfOtherThreadsIsSetAndTheCallersIsUnchanged) {
  std::atomic<bool> is_over = false;
  std::atomic<pid_t> thread = 0;
  std::thread other([&] {
    thread = static_cast<pid_t>(syscall(SYS_gettid));
    thread.notify_one();
    is_over.wait(false);
  });
  thread.wait(0);
  const Attributes before = Of(0);
  const bool is_set = SetSliceOfOtherThreads(50);
  CHECK(is_set == (Of(thread).runtime_ns == 50'000'000));
  CHECK(Of(0).runtime_ns == before.runtime_ns);
  is_over = true;
  is_over.notify_one();
  other.join();
}

TEST(SlicesOutOfRangeAreClamped) {
  std::thread other([] {
    if (SetThreadSlice(1e9)) CHECK(Of(0).runtime_ns == 100'000'000);
    if (SetThreadSlice(0)) CHECK(Of(0).runtime_ns == 100'000);
  });
  other.join();
}

}  // namespace
}  // namespace gannet::test
#endif
