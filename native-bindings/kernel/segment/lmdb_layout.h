// Sizes of LMDB 0.9's file format on 64-bit machines, as mdb.c declares them, for the code that writes and that checks
// files.
//
// Thread-safety: constants.
#pragma once

#include <cstddef>

namespace gannet {

constexpr size_t kLmdbPageHeaderBytes = 16;  // u64 number, u16 pad, u16 flags, u16 lower, u16 upper
constexpr size_t kLmdbNodeHeaderBytes = 8;   // u32 data size (or low bits of a page), u16 flags (high bits), u16 key size

}  // namespace gannet
