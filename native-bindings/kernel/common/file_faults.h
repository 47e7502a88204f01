// Registers mappings of data files that could not be read, because the disk reported an error or the file was cut.
// Since then they have zeros in place of what is missing (addon/map_faults.cc), so nothing read there is reliable: code
// that answers or writes from a mapping asks afterwards whether it is registered here.
//
// Thread-safety: any thread. NoteFault may be called in a signal handler, by one thread at a time.
#pragma once

#include <cstdint>

namespace gannet {

// Registers the mapping [begin, end). Returns false if there is no room for another one.
bool NoteFault(uintptr_t begin, uintptr_t end);
// Returns how often something could not be read since the process began; usually 0.
uint64_t FaultCount();
void CountFault();
// Returns true if the mapping with this address is registered. Null is in none.
bool HasFault(const void* inside);
// Must be called before the mapping with this address is removed: something else may be mapped there next.
void ForgetFault(const void* inside);

// Throws Error(kUnreadable) if any thread could not read a file since this object was made. For work that reads back
// what it has written, which nothing checks later.
class FaultWatch {
 public:
  void RequireNone(const char* work) const;

 private:
  uint64_t before_ = FaultCount();
};

}  // namespace gannet
