// What functions with a version for each of several instruction sets have in common: which sets the processor has, and how far
// behind an array's end the widest version may reach.
//
// Such a function has a portable version, too, and all of its versions give bit-identical results (no fused multiply-add can
// arise: no product is ever added to). Each file chooses its versions once, when it is loaded.
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

// Elements that must be readable behind the end of an array of 32-bit values, and writable behind that of a result, where a
// function asks for padding.
inline constexpr uint32_t kVectorPadding = 16;

// Extensions of x86-64, by the compiler's names; none of them on other processors.
struct InstructionSets {
  bool popcnt = false;
  bool fast_pext = false;  // BMI2, and `pext` is an instruction as others are: HasFastPext
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

// The environment variable that leaves instructions out, as a processor without them would have it: `baseline` leaves what every
// processor of the architecture has, `avx2` what one without AVX-512 has. For tests and measurements, and for whoever finds that a
// processor clocks down for the wider ones. Anything else: all that there are (a service that starts refuses it).
inline constexpr const char* kInstructionsVariable = "GANNET_KERNEL_INSTRUCTIONS";

#if defined(__x86_64__)
// AMD's before Zen 3 (families 15h and 17h) have `pext` in microcode: some hundred cycles, for which a loop does the same. Of other
// makers nothing is known.
inline bool HasFastPext() {
  if (__builtin_cpu_supports("bmi2") == 0) return false;
  if (__builtin_cpu_is("intel")) return true;
  return __builtin_cpu_is("amd") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h");
}

// Of the processor: clang's own function (up to 16 at least) does not know this name. Its registers are those of AVX, which avx2 tells of.
inline bool HasF16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

// Those that the processor has, the operating system lets programs use, and kInstructionsVariable does not leave out.
inline InstructionSets ProcessorInstructionSets() {
  InstructionSets sets;
#if defined(__x86_64__)
  const char* variable = std::getenv(kInstructionsVariable);
  const std::string_view wanted = variable == nullptr ? "" : variable;
  if (wanted == "baseline") return sets;
  __builtin_cpu_init();  // What asks may be initialised before the compiler's own library is.
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
