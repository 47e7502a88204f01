// Sets the name of the calling thread in the system's tools (top -H, perf, gdb).
//
// Thread-safety: any thread, at any time.
#pragma once

#include <string>

namespace gannet {

// Without the terminating zero of Linux.
inline constexpr size_t kThreadNameBytesMax = 15;

// A longer name is cut. Returns false if the system does not allow it.
bool NameThread(const std::string& name);

}  // namespace gannet
