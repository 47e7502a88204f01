// The resident memory of mapped files.
//
// Thread-safety: any thread, also while others read what is mapped.
#pragma once

#include <cstdint>
#include <string>

namespace gannet {

// Lets go of the resident pages of every shared file mapping under `folder`; returns the bytes of address space looked at.
// The pages stay in the system's cache, so that touching one again costs a minor fault and no reading; written ones
// stay dirty there. Only Linux lists its mappings in /proc: elsewhere this does nothing.
uint64_t TrimMappings(const std::string& folder);

}  // namespace gannet
