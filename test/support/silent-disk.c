/* Preloaded into a process, this delays opening of and looking at paths that end with /silent while the file
   SILENT_DISK exists, like the disk of a server that does not answer; and syncs of files whose paths end with
   SILENT_SYNC, if that is set. While a sync waits, there is another file, whose name has .waiting at its end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static int ends_with(const char *path, const char *end) {
  size_t length = strlen(path), count = strlen(end);
  return length >= count && strcmp(path + length - count, end) == 0;
}

static int is_there(const char *file) {
  return ((int (*)(const char *, int))dlsym(RTLD_NEXT, "access"))(file, F_OK) == 0;
}

static void wait_for(const char *path) {
  const char *file = getenv("SILENT_DISK");
  if (file == NULL || !ends_with(path, "/silent")) return;
  while (is_there(file)) usleep(10000);
}

static void tell(const char *file) {
  char path[4096];
  snprintf(path, sizeof path, "%s.waiting", file);
  FILE *told = fopen(path, "w");
  if (told != NULL) fclose(told);
}

static void wait_to_sync(int synced) {
  const char *file = getenv("SILENT_DISK"), *end = getenv("SILENT_SYNC");
  if (file == NULL || end == NULL || !is_there(file)) return;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", synced);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  if (!ends_with(path, end)) return;
  tell(file);
  while (is_there(file)) usleep(1000);
}

#define SYNC(name)                                                 \
  int name(int synced) {                                           \
    wait_to_sync(synced);                                          \
    return ((int (*)(int))dlsym(RTLD_NEXT, #name))(synced);        \
  }

SYNC(fsync)
SYNC(fdatasync)

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
