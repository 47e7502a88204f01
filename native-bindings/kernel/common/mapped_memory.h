// The resident memory of mapped files.
//
// Thread-safety: any thread, also while others read what is mapped.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gannet {

// Lets go of the resident pages of every shared file mapping under `folder`; returns the bytes of address space looked at.
// The pages stay in the system's cache, so that touching one again costs a minor fault and no reading; written ones
// stay dirty there. Only Linux lists its mappings in /proc: elsewhere this does nothing.
uint64_t TrimMappings(const std::string& folder);

// Held while a mapping of a file is taken away. TrimMappings reads which addresses are mapped and then lets go of what is there: without this, they could be
// memory of somebody else by then, who would find it empty. Those who unmap do not wait for each other.
class UnmappingGuard {
 public:
  UnmappingGuard();
  ~UnmappingGuard();
  UnmappingGuard(const UnmappingGuard&) = delete;
  UnmappingGuard& operator=(const UnmappingGuard&) = delete;
};

// The same for other libraries of the process, which hold it for reading while they unmap.
pthread_rwlock_t* MappingsLock();

// Of a large page of memory, as processors of x86-64 have it, and those of arm64 with pages of 4 KiB.
inline constexpr size_t kLargePageBytes = size_t{2} << 20;

// For what is read all over a mapped file, whose pages are found by fewer steps where they are large: has what is not in memory read by large pages. A file that was
// written by as much at a time is in such already. Linux has them for files where the file system does, as ext4 from 6.16 on; elsewhere nothing happens.
void AskForLargePages(std::span<const uint8_t> mapping);

}  // namespace gannet
