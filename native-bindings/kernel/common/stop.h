// Ends work before it is done: because nobody waits for the result any more, its deadline has passed, or it takes
// longer than it may hold others up.
//
// Work that may take long asks in each of its loops whether it must stop: between windows, blocks of postings, sorted
// values, marked records. Asking costs a subtraction; only every few calls are the flag and the clock read. Work that
// is not watched is never stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gannet {

// Number of flags of the process. One thread raises a flag, and the thread whose work it belongs to sees it.
inline constexpr uint32_t kStopFlagsMax = 65536;

void RaiseStop(uint32_t flag);
void LowerStop(uint32_t flag);

// Returns the milliseconds of a monotonic clock that all threads share.
double SteadyMs();

// Watches the work of this thread until the next call or UnwatchStop. The work ends with Error(kStopped) once the flag
// is raised, with kDeadline at `deadline_ms` of SteadyMs, and with kSlice once it has used `slice_ms` of processor time
// or has waited many times as long. Infinity means never. Throws if there is no such flag.
void WatchStop(uint32_t flag, double slice_ms, double deadline_ms);
void UnwatchStop();

// Checks the flag and the clock at once.
void StopNowIfAsked();

namespace internal {
// Number of calls between two checks of flag and clock.
inline constexpr uint32_t kAskedBetweenLooks = 16;
inline thread_local constinit uint32_t asks_left = kAskedBetweenLooks;
// Number of checks by this thread, for tests.
inline thread_local constinit uint64_t looks = 0;
}  // namespace internal

inline void StopIfAsked() {
  if (--internal::asks_left == 0) [[unlikely]] StopNowIfAsked();
}

// For loops whose steps take a few nanoseconds: asks at every 1,024th step.
inline void StopIfAskedAt(size_t step) {
  if (step % 1024 == 0) [[unlikely]] StopNowIfAsked();
}

}  // namespace gannet
