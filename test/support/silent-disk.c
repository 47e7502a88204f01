/* Preloaded into a process, it lets whoever opens, or looks at, a path that ends with /silent wait for as long as there is a file at SILENT_DISK, as on a
   disk that a server has which does not answer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static void wait_for(const char *path) {
  static const char end[] = "/silent";
  size_t length = strlen(path);
  const char *file = getenv("SILENT_DISK");
  if (file == NULL || length < sizeof end - 1 || strcmp(path + length - (sizeof end - 1), end) != 0) return;
  int (*look)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  while (look(file, F_OK) == 0) usleep(10000);
}

#define OPEN(name)                                                              \
  int name(const char *path, int flags, ...) {                                  \
    va_list more;                                                               \
    va_start(more, flags);                                                      \
    mode_t mode = va_arg(more, mode_t);                                         \
    va_end(more);                                                               \
    wait_for(path);                                                             \
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
  }

OPEN(open)
OPEN(open64)

int access(const char *path, int mode) {
  wait_for(path);
  return ((int (*)(const char *, int))dlsym(RTLD_NEXT, "access"))(path, mode);
}

#define STATFS(name, type)                                                        \
  int name(const char *path, struct type *found) {                                \
    wait_for(path);                                                               \
    return ((int (*)(const char *, struct type *))dlsym(RTLD_NEXT, #name))(path, found); \
  }

STATFS(statfs, statfs)
STATFS(statfs64, statfs64)
