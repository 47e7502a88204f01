// When work is to end before it is done: nobody waits for its answer any more, its time is over, or it takes longer than what
// may hold others up.
//
// Work that may take long asks in each of its loops whether it is to stop: between windows, blocks of postings, values that
// are sorted, records that are marked. To ask costs a subtraction; only every so often a flag and the clock are looked at. What
// nobody watches is never stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gannet {

// Flags of the process, by their numbers: one thread raises them, and the thread whose work it is sees them.
inline constexpr uint32_t kStopFlagsMax = 65536;

void RaiseStop(uint32_t flag);
void LowerStop(uint32_t flag);

// Milliseconds of a clock that all threads share and that never goes back.
double SteadyMs();

// Until the next call, or UnwatchStop, the work of this thread ends with Error(kStopped) once its flag is raised, with kDeadline at
// `deadline_ms` of SteadyMs, and with kSlice when it has taken `slice_ms` of a processor, or many times that of waiting; infinite:
// never. Throws where there is no such flag.
void WatchStop(uint32_t flag, double slice_ms, double deadline_ms);
void UnwatchStop();

// Looks at once, whenever it was looked last.
void StopNowIfAsked();

namespace internal {
// How often may be asked until flag and clock are looked at.
inline constexpr uint32_t kAskedBetweenLooks = 16;
inline thread_local constinit uint32_t asks_left = kAskedBetweenLooks;
// How often this thread has looked, for tests.
inline thread_local constinit uint64_t looks = 0;
}  // namespace internal

inline void StopIfAsked() {
  if (--internal::asks_left == 0) [[unlikely]] StopNowIfAsked();
}

// For loops whose steps take a few nanoseconds each: asks at every 1,024th.
inline void StopIfAskedAt(size_t step) {
  if (step % 1024 == 0) [[unlikely]] StopNowIfAsked();
}

}  // namespace gannet
