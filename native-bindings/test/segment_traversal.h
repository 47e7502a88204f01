// Opens a segment that may be damaged and calls everything that it offers, which must return data or throw an Error, but
// never crash. Shared by the damage test and the fuzz targets.
#pragma once

#include <string>

namespace gannet::segment_test {

// Returns true if the file could be opened. Throws nothing.
bool OpenAndTraverse(const std::string& path);

}  // namespace gannet::segment_test
