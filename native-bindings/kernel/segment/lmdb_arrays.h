// Replaces calloc for LMDB. Compiled in front of LMDB's source (binding.gyp, Makefile).
//
// To write, LMDB allocates a zeroed array of 2 MiB for the pages that a transaction changes. For a segment of a few
// documents, which every small write makes, zeroing took longer than everything else about its file. LMDB sets the
// array's length, its first element, at the start of each transaction, and reads no more of the array than that.
#pragma once

#include <stdlib.h>

// Minimum number of elements of an array that is not zeroed; all other arrays of LMDB have fewer.
enum { kGannetLmdbArrayMin = 1 << 16 };

static inline void *GannetLmdbCalloc(size_t count, size_t bytes) {
  return count >= kGannetLmdbArrayMin ? malloc(count * bytes) : calloc(count, bytes);
}

#define calloc(count, bytes) GannetLmdbCalloc(count, bytes)
