// Controls freed memory that the allocator keeps. It belongs to the process: a call of any thread affects all threads.
#include <napi.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>
#include <limits>
#include <string>

#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

// Reads a positive number that mallopt accepts.
int ReadParameter(const Napi::Value& value, const char* name) {
  const uint32_t parameter = ReadUint32(value, name);
  if (parameter == 0 || parameter > uint32_t{std::numeric_limits<int>::max()}) {
    throw ArgumentError(std::string(name) + " has to be from 1 to 2^31 - 1");
  }
  return static_cast<int>(parameter);
}

// Returns true if the allocator accepts these limits.
Napi::Value LimitAllocatorCall(const Napi::CallbackInfo& info) {
  const int arenas_max = ReadParameter(info[0], "arenasMax");
  const int returned_bytes_min = ReadParameter(info[1], "returnedBytesMin");
#ifdef __GLIBC__
  const bool limited = mallopt(M_ARENA_MAX, arenas_max) == 1 && mallopt(M_MMAP_THRESHOLD, returned_bytes_min) == 1 &&
                       mallopt(M_TRIM_THRESHOLD, returned_bytes_min) == 1;
#else
  (void)arenas_max;
  (void)returned_bytes_min;
  const bool limited = false;
#endif
  return Napi::Boolean::New(info.Env(), limited);
}

Napi::Value ReleaseFreeMemoryCall(const Napi::CallbackInfo& info) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return info.Env().Undefined();
}

}  // namespace

void DefineMemory(Napi::Object exports) {
  Define<LimitAllocatorCall>(exports, "limitAllocator");
  Define<ReleaseFreeMemoryCall>(exports, "releaseFreeMemory");
}

}  // namespace gannet::addon
