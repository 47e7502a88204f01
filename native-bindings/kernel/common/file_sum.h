// A checksum of a file that is written once: it finds damage, and is no protection against somebody who means harm.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace gannet {

// Fletcher's sum in eight lanes of 64 bits over whole words, what is left behind the last stripe word by word: it depends on where
// a word stands. Some 10 GB/s of memory.
uint64_t SumOfBytes(std::span<const uint8_t> bytes);

}  // namespace gannet
