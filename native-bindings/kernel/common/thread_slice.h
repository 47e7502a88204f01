// How soon a thread runs beside others that want the same processors.
//
// Thread-safety: any thread, at any time.
#pragma once

namespace gannet {

inline constexpr double kSliceMsMin = 0.1;
inline constexpr double kSliceMsMax = 100;

// Asks the system to give the calling thread the processor for `slice_ms` at a time, kSliceMsMin to kSliceMsMax. Over time it has as much
// of it as before: the shorter the slice, the sooner it runs when it wakes, and the longer, the sooner others run that wake
// meanwhile. False where the system has no such slices (Linux before 6.12, others) or does not allow it; then nothing has changed.
bool SetThreadSlice(double slice_ms);

// The same for all other threads that the process has now; false where it was not done for one of them.
bool SetSliceOfOtherThreads(double slice_ms);

}  // namespace gannet
