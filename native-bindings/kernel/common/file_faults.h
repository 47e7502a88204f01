// Mappings of data files that could not be read, because the disk reported an error or somebody cut the file, and that have zeros in
// the place of what is gone since then (addon/map_faults.cc). What was read there is worth nothing: whoever answers or writes from a
// mapping asks afterwards whether it is one of these.
//
// Thread-safety: any thread. NoteFault does what a signal handler may, for one thread at a time.
#pragma once

#include <cstdint>

namespace gannet {

// Remembers the mapping [begin, end). False where there is no room for another one.
bool NoteFault(uintptr_t begin, uintptr_t end);
// How often something could not be read since the process began; in most of them it stays 0.
uint64_t FaultCount();
void CountFault();
// True where the mapping that has this address is among those that were noted. Null is in none.
bool HasFault(const void* inside);
// Called before the mapping that has this address goes: something else may be mapped there next.
void ForgetFault(const void* inside);

// Throws Error(kUnreadable) if a file could not be read since this was made, by whatever thread: for work that reads what it has
// written, after which nobody looks at it.
class FaultWatch {
 public:
  void RequireNone(const char* work) const;

 private:
  uint64_t before_ = FaultCount();
};

}  // namespace gannet
