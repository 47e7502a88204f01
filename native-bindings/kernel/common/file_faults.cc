#include "file_faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include "error.h"

namespace gannet {
namespace {

// More than the number of files that a process has open.
constexpr size_t kMappingsMax = 65536;

struct Mapping {
  std::atomic<uintptr_t> begin{0};  // 0: free
  std::atomic<uintptr_t> end{0};
};

// Static memory, whose pages are touched only when something is noted.
std::array<Mapping, kMappingsMax> mappings;
std::atomic<size_t> used{0};
std::atomic<uint64_t> fault_count{0};

// A mapping with the begin that it had when it was found; the place may be reused a moment later.
struct Found {
  Mapping* mapping = nullptr;
  uintptr_t begin = 0;
};

Found FindMapping(uintptr_t address) {
  const size_t count = used.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    Mapping& mapping = mappings[i];
    const uintptr_t begin = mapping.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= mapping.end.load(std::memory_order_acquire)) continue;
    // Otherwise, the end belonged to another mapping.
    if (mapping.begin.load(std::memory_order_acquire) == begin) return {&mapping, begin};
  }
  return {};
}

}  // namespace

bool NoteFault(uintptr_t begin, uintptr_t end) {
  if (FindMapping(begin).mapping != nullptr) return true;
  const size_t count = used.load(std::memory_order_relaxed);
  size_t place = 0;
  while (place < count && mappings[place].begin.load(std::memory_order_relaxed) != 0) ++place;
  if (place == kMappingsMax) return false;
  mappings[place].end.store(end, std::memory_order_relaxed);
  mappings[place].begin.store(begin, std::memory_order_release);
  used.store(std::max(count, place + 1), std::memory_order_release);
  return true;
}

uint64_t FaultCount() { return fault_count.load(std::memory_order_acquire); }

void CountFault() { fault_count.fetch_add(1, std::memory_order_acq_rel); }

bool HasFault(const void* inside) {
  return FaultCount() != 0 && inside != nullptr && FindMapping(reinterpret_cast<uintptr_t>(inside)).mapping != nullptr;
}

void ForgetFault(const void* inside) {
  if (FaultCount() == 0 || inside == nullptr) return;
  for (;;) {
    Found found = FindMapping(reinterpret_cast<uintptr_t>(inside));
    if (found.mapping == nullptr) return;
    found.mapping->begin.compare_exchange_strong(found.begin, 0, std::memory_order_acq_rel);
  }
}

void FaultWatch::RequireNone(const char* work) const {
  if (FaultCount() == before_) return;
  throw Error(ErrorCode::kUnreadable, std::string(work) + ": a data file could not be read meanwhile");
}

}  // namespace gannet
