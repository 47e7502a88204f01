// Large pages of memory: what is read all over a file finds its pages by as many fewer steps.
//
// Linux keeps files in them where the file system can (ext4 from 6.16 on), and where they were written, or are read, by as much at a time.
//
// Thread-safety: a constant.
#pragma once

#include <cstddef>

namespace gannet {

// As processors of x86-64 have them, and those of arm64 with pages of 4 KiB.
inline constexpr size_t kLargePageBytes = size_t{2} << 20;

}  // namespace gannet
