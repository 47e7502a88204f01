// What a fuzz target is: libFuzzer's entry point, and inputs to begin with.
//
// libFuzzer (clang) finds its way in by coverage and takes the seeds as a corpus (`driver --write-seeds FOLDER`); the driver of this
// folder (any compiler) mutates the seeds. Thread-safety: none needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Returns 0. What must not happen is a signal or a sanitizer's report.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace gannet::fuzz {

using Input = std::vector<uint8_t>;

// Inputs as the service meets them; at least one.
std::vector<Input> Seeds();

}  // namespace gannet::fuzz
