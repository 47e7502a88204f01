/* Preloaded into a process, this makes writes to files named data.mdb fail with the errno of FAILING_DISK. With
   `meta` in FAILING_DISK_PART, only writes that sync by themselves fail, as LMDB writes its meta pages; with `sync`,
   only syncs fail. Nothing fails while FAILING_DISK is not set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE, SYNC };

static int fails(int file, enum kind kind) {
  const char *code = getenv("FAILING_DISK");
  if (code == NULL || *code == '\0') return 0;
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 8) return 0;
  path[length] = '\0';
  if (strcmp(path + length - 8, "data.mdb") != 0) return 0;
  const char *part = getenv("FAILING_DISK_PART");
  if (part != NULL && strcmp(part, "meta") == 0 && (fcntl(file, F_GETFL) & O_DSYNC) == 0) return 0;
  if (part != NULL && strcmp(part, "sync") == 0 && kind != SYNC) return 0;
  errno = atoi(code);
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
  return fails(file, WRITE) ? -1 : NEXT(pwrite)(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
  return fails(file, WRITE) ? -1 : NEXT(pwrite64)(file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  return fails(file, WRITE) ? -1 : NEXT(writev)(file, parts, count);
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
  return fails(file, WRITE) ? -1 : NEXT(pwritev)(file, parts, count, at);
}
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) {
  return fails(file, WRITE) ? -1 : NEXT(pwritev64)(file, parts, count, at);
}
int fdatasync(int file) {
  return fails(file, SYNC) ? -1 : NEXT(fdatasync)(file);
}
