// The interface of a fuzz target: libFuzzer's entry point, and seed inputs.
//
// libFuzzer (clang) is guided by coverage and takes the seeds as a corpus (`driver --write-seeds FOLDER`). The driver of this
// folder (any compiler) mutates the seeds. Thread-safety: none needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Returns 0. The target fails by a signal or a sanitizer's report.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace gannet::fuzz {

using Input = std::vector<uint8_t>;

// Returns at least one input as the service meets them.
std::vector<Input> Seeds();

}  // namespace gannet::fuzz
