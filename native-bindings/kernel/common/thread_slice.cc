#include "thread_slice.h"

#include <algorithm>

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gannet {
namespace {

// The Linux kernel's struct sched_attr, which glibc has only since 2.41.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

// `thread` is 0 for the calling thread.
bool SetSliceOf(pid_t thread, double slice_ms) {
  Attributes attributes;
  // The attributes are set as a whole, so that policy and niceness stay as they are.
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) != 0 || attributes.policy != SCHED_OTHER) return false;
  attributes.size = sizeof(attributes);
  attributes.flags = 0;
  attributes.runtime_ns = static_cast<uint64_t>(std::clamp(slice_ms, kSliceMsMin, kSliceMsMax) * 1e6);
  const uint64_t wanted_ns = attributes.runtime_ns;
  if (syscall(SYS_sched_setattr, thread, &attributes, 0) != 0) return false;
  // Older kernels accept the slice and ignore it.
  return syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) == 0 && attributes.runtime_ns == wanted_ns;
}

}  // namespace

bool SetThreadSlice(double slice_ms) { return SetSliceOf(0, slice_ms); }

bool SetSliceOfOtherThreads(double slice_ms) {
  const auto own = static_cast<pid_t>(syscall(SYS_gettid));
  std::error_code error;
  bool is_done = true;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end; at.increment(error)) {
    const pid_t thread = std::atoi(at->path().filename().c_str());
    if (thread != own && !SetSliceOf(thread, slice_ms)) is_done = false;
  }
  return is_done && !error;
}

}  // namespace gannet
#else
namespace gannet {

bool SetThreadSlice(double) { return false; }

bool SetSliceOfOtherThreads(double) { return false; }

}  // namespace gannet
#endif
