// Compiled in front of LMDB's source (binding.gyp, Makefile).
//
// To write, LMDB takes an array of 2 MiB for the pages that a transaction changes, filled with zeros: for a segment of a few documents,
// of which each small write makes one, that took longer than everything else about its file. LMDB sets the array's length, which it
// begins with, at the start of each transaction, and reads no more of it than that.
#pragma once

#include <stdlib.h>

// Elements of the smallest array that is left as it comes; all others of LMDB have fewer.
enum { kGannetLmdbArrayMin = 1 << 16 };

static inline void *GannetLmdbCalloc(size_t count, size_t bytes) {
  return count >= kGannetLmdbArrayMin ? malloc(count * bytes) : calloc(count, bytes);
}

#define calloc(count, bytes) GannetLmdbCalloc(count, bytes)
