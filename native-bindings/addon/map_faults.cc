// Handles SIGBUS, which would end the process if a mapped data file is shorter than its mapping because somebody cut
// it, or if the disk reports an error when a page of it is read. The handler replaces the rest of the mapping by zeros,
// records the file, and lets the reader go on. The reader finds out afterwards that its results are not reliable
// (file_faults.h), if its own checks (of pages) have not told it. The main thread asks for the recorded files and
// closes the lists that they belong to.
//
// The handler runs in the thread that raised the fault, and does only what a signal handler may: system calls, and
// access to its own memory. Other faults are passed to the previous handler, so that a real bug still ends the process.
#include <napi.h>

#if defined(__linux__)
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "../kernel/common/file_faults.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

#if defined(__linux__)

constexpr size_t kPathBytesMax = 4096;
// Room for the paths of all recorded files that have not been asked for yet.
constexpr size_t kNamesBytesMax = 16u << 20;
constexpr std::string_view kDataFileEndings[] = {".mdb", ".gvs", ".mdb.tmp", ".gvs.tmp"};
// What the system appends to the path of a file that was removed while it is mapped.
constexpr std::string_view kRemoved = " (deleted)";
// Files that are not read through the kernel: LMDB itself reads their pages.
constexpr std::string_view kEnvironmentFiles[] = {"/data.mdb", "/lock.mdb"};
// Files that are being written; their writer checks only the number of faults.
constexpr std::string_view kUnfinished = ".tmp";

struct Faults {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;  // held by the one thread that uses `line`
  char line[kPathBytesMax + 256];
  char* names = nullptr;  // paths, each with its terminating zero
  size_t names_bytes = 0;
  // The table of mappings, opened in advance: when it is needed, there may be no free descriptor.
  int maps = -1;
  struct sigaction before {};
};
Faults* faults = nullptr;

// One line of /proc/self/maps: "begin-end perms offset device inode   path".
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool writable = false;
  std::string_view path;
};

uintptr_t ReadHex(std::string_view* text) {
  uintptr_t value = 0;
  while (!text->empty()) {
    const char c = text->front();
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value << 4 | static_cast<uintptr_t>(digit);
    text->remove_prefix(1);
  }
  return value;
}

Mapping ParseMapping(std::string_view line) {
  Mapping mapping;
  std::string_view rest = line;
  mapping.begin = ReadHex(&rest);
  if (rest.size() < 6) return {};
  rest.remove_prefix(1);
  mapping.end = ReadHex(&rest);
  if (rest.size() < 5) return {};
  mapping.writable = rest[2] == 'w';
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos) mapping.path = rest.substr(slash);
  return mapping;
}

// Finds the mapping that contains the address, reading the table piece by piece into the shared line.
bool FindMapping(uintptr_t address, Mapping* found) {
  if (lseek(faults->maps, 0, SEEK_SET) != 0) return false;
  size_t used = 0;
  bool is_found = false;
  for (;;) {
    const ssize_t got = read(faults->maps, faults->line + used, sizeof(faults->line) - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
    size_t begin = 0;
    while (const void* newline = memchr(faults->line + begin, '\n', used - begin)) {
      const size_t end = static_cast<size_t>(static_cast<const char*>(newline) - faults->line);
      const Mapping mapping = ParseMapping({faults->line + begin, end - begin});
      if (address >= mapping.begin && address < mapping.end) {
        *found = mapping;  // the path points into the line, which is not overwritten from now on
        is_found = true;
        break;
      }
      begin = end + 1;
    }
    if (is_found) break;
    if (begin == 0 && used == sizeof(faults->line)) break;
    memmove(faults->line, faults->line + begin, used - begin);
    used -= begin;
  }
  return is_found;
}

void Remember(std::string_view path) {
  for (size_t at = 0; at < faults->names_bytes; at += strlen(faults->names + at) + 1) {
    if (path == faults->names + at) return;
  }
  if (path.size() + 1 > kNamesBytesMax - faults->names_bytes) return;
  char* name = faults->names + faults->names_bytes;
  memcpy(name, path.data(), path.size());
  name[path.size()] = '\0';
  faults->names_bytes += path.size() + 1;
}

template <size_t count>
bool EndsWithOneOf(std::string_view path, const std::string_view (&endings)[count]) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

// Returns true if there are zeros at the address now.
bool PutZeros(uintptr_t address) {
  Mapping mapping;
  if (!FindMapping(address, &mapping)) return false;
  // Another thread may have been here first: the mapping then has no file, and reading goes on.
  if (mapping.path.empty()) return true;
  if (mapping.path.ends_with(kRemoved)) mapping.path.remove_suffix(kRemoved.size());
  if (!EndsWithOneOf(mapping.path, kDataFileEndings)) return false;
  // Recorded before the zeros are visible, so that whoever reads them finds the record.
  const bool is_asked_for = !EndsWithOneOf(mapping.path, kEnvironmentFiles) && !mapping.path.ends_with(kUnfinished);
  if (is_asked_for && !NoteFault(mapping.begin, mapping.end)) return false;
  CountFault();
  const uintptr_t page = address & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  const int protection = PROT_READ | (mapping.writable ? PROT_WRITE : 0);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (mmap(reinterpret_cast<void*>(page), mapping.end - page, protection, flags, -1, 0) == MAP_FAILED) return false;
  Remember(mapping.path);
  return true;
}

void Lock() {
  while (faults->busy.test_and_set(std::memory_order_acquire)) {
  }
}

void Unlock() { faults->busy.clear(std::memory_order_release); }

void HandleFault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  bool went_on = false;
  // A signal sent by a process may arrive while this thread holds the lock.
  if (info->si_code == BUS_ADRERR) {
    Lock();
    went_on = PutZeros(reinterpret_cast<uintptr_t>(info->si_addr));
    Unlock();
  }
  errno = error;
  if (went_on) return;
  if ((faults->before.sa_flags & SA_SIGINFO) != 0 && faults->before.sa_sigaction != nullptr) {
    faults->before.sa_sigaction(signal, info, context);
  } else {
    // The instruction runs again and ends the process as it would without this handler.
    sigaction(signal, &faults->before, nullptr);
  }
}

void Install() {
  static std::once_flag once;
  std::call_once(once, [] {
    faults = new Faults();
    // Anonymous memory of the system, whose pages are allocated only when they are written.
    void* names = mmap(nullptr, kNamesBytesMax, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (names == MAP_FAILED) return;
    faults->names = static_cast<char*>(names);
    faults->maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    struct sigaction action {};
    action.sa_sigaction = HandleFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &faults->before);
  });
}

#else

void Install() {}

#endif

// Returns the paths of the unreadable data files since the last call, each once.
Napi::Value TakeUnreadableFilesCall(const Napi::CallbackInfo& info) {
  Napi::Array paths = Napi::Array::New(info.Env());
#if defined(__linux__)
  if (FaultCount() == 0) return paths;
  std::string taken;
  taken.reserve(kNamesBytesMax);  // no allocation while the lock is held
  Lock();
  taken.assign(faults->names, faults->names_bytes);
  faults->names_bytes = 0;
  Unlock();
  uint32_t count = 0;
  for (size_t at = 0; at < taken.size(); at += strlen(taken.c_str() + at) + 1) {
    paths.Set(count++, Napi::String::New(info.Env(), taken.c_str() + at));
  }
#endif
  return paths;
}

// Returns how often a mapped data file could not be read since the process began.
Napi::Value UnreadableCountCall(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(FaultCount()));
}

}  // namespace

void DefineMapFaults(Napi::Object exports) {
  Install();
  Define<TakeUnreadableFilesCall>(exports, "takeUnreadableFiles");
  Define<UnreadableCountCall>(exports, "unreadableCount");
}

}  // namespace gannet::addon
