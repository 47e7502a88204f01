#include "mapped_memory.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace gannet {
namespace {

pthread_rwlock_t mappings_lock = PTHREAD_RWLOCK_INITIALIZER;

}  // namespace

UnmappingGuard::UnmappingGuard() { pthread_rwlock_rdlock(&mappings_lock); }
UnmappingGuard::~UnmappingGuard() { pthread_rwlock_unlock(&mappings_lock); }

pthread_rwlock_t* MappingsLock() { return &mappings_lock; }

uint64_t TrimMappings(const std::string& folder) {
  uint64_t trimmed = 0;
#ifdef __linux__
  pthread_rwlock_wrlock(&mappings_lock);
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char permissions[5] = {};
    int path_at = 0;
    const int read = std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &begin, &end, permissions,
                                 &path_at);
    if (read != 3 || permissions[3] != 's' || path_at == 0) continue;
    if (line.compare(static_cast<size_t>(path_at), folder.size(), folder) != 0) continue;
    if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) trimmed += end - begin;
  }
  pthread_rwlock_unlock(&mappings_lock);
#else
  (void)folder;
#endif
  return trimmed;
}

void AskForLargePages(std::span<const uint8_t> mapping) {
#ifdef MADV_HUGEPAGE
  if (mapping.size() >= kLargePageBytes) madvise(const_cast<uint8_t*>(mapping.data()), mapping.size(), MADV_HUGEPAGE);
#else
  (void)mapping;
#endif
}

}  // namespace gannet
