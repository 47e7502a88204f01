// Shared parts of functions with versions for several instruction sets: which sets the processor has, and how far past
// the end of an array the widest version may reach.
//
// Every such function also has a portable version, and all versions give bit-identical results (no fused multiply-add
// can arise, because no product is ever added to). Each file chooses its versions once, when it is loaded.
//
// Thread-safety: pure functions.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace gannet {

// Number of elements that must be readable after the end of an array of 32-bit values, and writable after that of a
// result, if a function asks for padding.
inline constexpr uint32_t kVectorPadding = 16;

// Extensions of x86-64, by the compiler's names; all false on other processors.
struct InstructionSets {
  bool popcnt = false;
  bool fast_pext = false;  // BMI2 with a fast `pext` (HasFastPext)
  bool avx2 = false;
  bool f16c = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512vbmi2 = false;
  bool avx512vpopcntdq = false;
  bool avx512vnni = false;
};

// The environment variable that disables instruction sets, as on a processor without them: with `baseline` only those
// that every processor of the architecture has are used, with `avx2` none of AVX-512. For tests and measurements, and
// for processors that clock down for wider instructions. Any other value enables all (the service refuses it at start).
inline constexpr const char* kInstructionsVariable = "GANNET_KERNEL_INSTRUCTIONS";

#if defined(__x86_64__)
// AMD processors before Zen 3 (families 15h and 17h) run `pext` in microcode, which takes some hundred cycles; a loop
// is faster. Other makers are not known and count as slow.
inline bool HasFastPext() {
  if (__builtin_cpu_supports("bmi2") == 0) return false;
  if (__builtin_cpu_is("intel")) return true;
  return __builtin_cpu_is("amd") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h");
}

// Asks the processor itself, because clang's function (up to 16 at least) does not know this name. F16C uses the
// registers of AVX, which avx2 covers.
inline bool HasF16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

// Returns the sets that the processor has, the operating system enables, and kInstructionsVariable does not disable.
inline InstructionSets ProcessorInstructionSets() {
  InstructionSets sets;
#if defined(__x86_64__)
  const char* variable = std::getenv(kInstructionsVariable);
  const std::string_view wanted = variable == nullptr ? "" : variable;
  if (wanted == "baseline") return sets;
  __builtin_cpu_init();  // Callers may be initialised before the compiler's own library is.
  sets.popcnt = __builtin_cpu_supports("popcnt") != 0;
  sets.fast_pext = HasFastPext();
  sets.avx2 = __builtin_cpu_supports("avx2") != 0;
  sets.f16c = HasF16c();
  if (wanted == "avx2") return sets;
  sets.avx512f = __builtin_cpu_supports("avx512f") != 0;
  sets.avx512bw = __builtin_cpu_supports("avx512bw") != 0;
  sets.avx512dq = __builtin_cpu_supports("avx512dq") != 0;
  sets.avx512vl = __builtin_cpu_supports("avx512vl") != 0;
  sets.avx512vbmi2 = __builtin_cpu_supports("avx512vbmi2") != 0;
  sets.avx512vpopcntdq = __builtin_cpu_supports("avx512vpopcntdq") != 0;
  sets.avx512vnni = __builtin_cpu_supports("avx512vnni") != 0;
#endif
  return sets;
}

}  // namespace gannet
