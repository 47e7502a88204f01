// The lock that keeps two processes from using one data folder, and the resident memory of its mapped files.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "../kernel/common/file.h"
#include "../kernel/common/mapped_memory.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

// An open file with an exclusive advisory lock, which is released with the object.
class FileLock {
 public:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  ~FileLock() { Release(); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Returns null if somebody else holds the lock.
  static std::shared_ptr<FileLock> Acquire(const std::string& path) {
    // Not inherited by child processes, which would keep the lock.
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) ThrowErrno(errno, "cannot open the lock file " + path);
    auto lock = std::make_shared<FileLock>(descriptor);
    int status = 0;
    do {
      status = flock(descriptor, LOCK_EX | LOCK_NB);
    } while (status != 0 && errno == EINTR);
    if (status == 0) return lock;
    if (errno == EWOULDBLOCK) return nullptr;
    ThrowErrno(errno, "cannot lock " + path);
  }

  void Release() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

Napi::Value LockFileCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<FileLock> lock = FileLock::Acquire(ReadPath(info[0], "path"));
  if (!lock) return env.Null();
  Napi::Object object = Napi::Object::New(env);
  object.Set("release", Napi::Function::New(env, [lock](const Napi::CallbackInfo&) { lock->Release(); }));
  return object;
}

Napi::Value TrimMappingsCall(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(TrimMappings(ReadPath(info[0], "folder"))));
}

Napi::Value MappingsLockCall(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(MappingsLock()));
}

}  // namespace

void DefineFiles(Napi::Object exports) {
  Define<LockFileCall>(exports, "lockFile");
  Define<TrimMappingsCall>(exports, "trimMappings");
  Define<MappingsLockCall>(exports, "mappingsLock");
}

}  // namespace gannet::addon
