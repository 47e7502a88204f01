// Manages the resident memory of mapped files.
//
// Thread-safety: any thread, also while others read mapped memory.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gannet {

// Releases the resident pages of every shared file mapping under `folder`; returns the number of bytes of address space
// examined. The pages stay in the system's cache, so that touching one again costs a minor fault and no read; written
// pages stay dirty there. Only Linux lists mappings in /proc: elsewhere this does nothing.
uint64_t TrimMappings(const std::string& folder);

// Must be held while a file mapping is removed. TrimMappings reads which addresses are mapped and then releases them.
// Without this guard, the addresses could belong to other memory by then, whose content would be lost. Several threads
// may hold the guard at once.
class UnmappingGuard {
 public:
  UnmappingGuard();
  ~UnmappingGuard();
  UnmappingGuard(const UnmappingGuard&) = delete;
  UnmappingGuard& operator=(const UnmappingGuard&) = delete;
};

// The same lock for other libraries of the process, which hold it for reading while they unmap.
pthread_rwlock_t* MappingsLock();

// Size of a large page on x86-64, and on arm64 with pages of 4 KiB.
inline constexpr size_t kLargePageBytes = size_t{2} << 20;

// For mapped files that are read in random places: with large pages, an address is translated in fewer steps. Asks the
// system to read the pages that are not in memory as large pages; a file that was written in pieces of this size
// already has them. Linux has large pages for files if the file system does (ext4 from 6.16 on); elsewhere this does
// nothing.
void AskForLargePages(std::span<const uint8_t> mapping);

}  // namespace gannet
