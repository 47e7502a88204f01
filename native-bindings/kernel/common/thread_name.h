// What the calling thread is called in the system's tools (top -H, perf, gdb).
//
// Thread-safety: any thread, at any time.
#pragma once

#include <string>

namespace gannet {

// Without the zero that Linux keeps at its end.
inline constexpr size_t kThreadNameBytesMax = 15;

// Of a longer name the beginning is taken. False where the system does not allow it.
bool NameThread(const std::string& name);

}  // namespace gannet
