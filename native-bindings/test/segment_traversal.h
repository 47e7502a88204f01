// Opens a segment that may be damaged and uses everything that it offers: Error or data, never a crash. Shared by the
// damage test and the fuzz target.
#pragma once

#include <string>

namespace gannet::segment_test {

// True where the file opened. Throws nothing.
bool OpenAndTraverse(const std::string& path);

}  // namespace gannet::segment_test
