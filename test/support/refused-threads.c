/* Preloaded into a process, this refuses new threads and processes while the file named by REFUSED_THREADS exists,
   like a limit of processes (ulimit -u, pids.max of a control group) that is reached. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int refused(void) { const char *path = getenv("REFUSED_THREADS"); return path != NULL && access(path, F_OK) == 0; }
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *given) {
  if (refused()) return EAGAIN;
  return ((__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, given);
}
pid_t fork(void) {
  if (refused()) { errno = EAGAIN; return -1; }
  return ((__typeof__(&fork))dlsym(RTLD_NEXT, "fork"))();
}
