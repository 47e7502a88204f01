#include "stop.h"

#include <time.h>

#include <array>
#include <chrono>
#include <limits>

#include "error.h"

namespace gannet {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A thread that waits for a file or a processor uses no processor time but still holds others up: its slice ends after
// this many times its length.
constexpr double kWaitedSlices = 10;

std::array<std::atomic<bool>, kStopFlagsMax> flags;

struct Watch {
  const std::atomic<bool>* flag = nullptr;  // null: nothing is watched
  double slice_ms = kNever;
  double began_ms = 0;
  double began_processor_ms = 0;
  double deadline_ms = kNever;
};

thread_local constinit Watch watch;

// Returns the processor time of this thread. Measured in it, a slice does not depend on the load of the machine.
double ProcessorMs() {
  timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return SteadyMs();
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

bool IsSliceOver(double now) {
  const double waited = now - watch.began_ms;
  if (waited < watch.slice_ms) return false;
  return waited >= kWaitedSlices * watch.slice_ms || ProcessorMs() - watch.began_processor_ms >= watch.slice_ms;
}

std::atomic<bool>& FlagOf(uint32_t flag) {
  if (flag >= kStopFlagsMax) throw Error(ErrorCode::kInvalidArgument, "no such flag to stop work");
  return flags[flag];
}

}  // namespace

void RaiseStop(uint32_t flag) { FlagOf(flag).store(true, std::memory_order_relaxed); }

void LowerStop(uint32_t flag) { FlagOf(flag).store(false, std::memory_order_relaxed); }

double SteadyMs() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void WatchStop(uint32_t flag, double slice_ms, double deadline_ms) {
  watch = {&FlagOf(flag), slice_ms, 0, 0, deadline_ms};
  if (slice_ms == kNever) return;
  watch.began_ms = SteadyMs();
  watch.began_processor_ms = ProcessorMs();
}

void UnwatchStop() { watch = {}; }

void StopNowIfAsked() {
  internal::asks_left = internal::kAskedBetweenLooks;
  ++internal::looks;
  if (watch.flag == nullptr) return;
  if (watch.flag->load(std::memory_order_relaxed)) throw Error(ErrorCode::kStopped, "nobody waits for this any more");
  const double now = SteadyMs();
  if (now >= watch.deadline_ms) throw Error(ErrorCode::kDeadline, "the time for this is over");
  if (IsSliceOver(now)) throw Error(ErrorCode::kSlice, "this takes longer than what may hold others up");
}

}  // namespace gannet
