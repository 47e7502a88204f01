// Sets how soon a thread runs if others compete for the same processors.
//
// Thread-safety: any thread, at any time.
#pragma once

namespace gannet {

inline constexpr double kSliceMsMin = 0.1;
inline constexpr double kSliceMsMax = 100;

// Asks the system to give the calling thread the processor for `slice_ms` at a time (kSliceMsMin to kSliceMsMax). Its
// share over time stays the same: with a shorter slice it runs sooner when it wakes, with a longer one others that wake
// meanwhile run sooner. Returns false, with nothing changed, if the system has no such slices (Linux before 6.12, other
// systems) or does not allow it.
bool SetThreadSlice(double slice_ms);

// The same for all other current threads of the process; returns false if it failed for any of them.
bool SetSliceOfOtherThreads(double slice_ms);

}  // namespace gannet
