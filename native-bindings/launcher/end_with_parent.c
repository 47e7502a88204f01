// Becomes another program that the kernel kills as soon as whoever started it ends, in whatever way: a service that is killed has no time to
// end what it started, and what hangs hears nothing.
//
//   end_with_parent PID-OF-PARENT PROGRAM [ARGUMENT...]
//
// PROGRAM is a path. Where the system knows no such signal (it is Linux that does), this is PROGRAM alone.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { kNoProgram = 127 };

int main(int count, char** arguments) {
  if (count < 3) {
    fputs("end_with_parent: expected the number of the parent's process, and a program\n", stderr);
    return kNoProgram;
  }
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before it was asked for the signal, which does not come any more then.
  if (getppid() != (pid_t)atol(arguments[1])) return kNoProgram;
#endif
  execv(arguments[2], arguments + 2);
  fprintf(stderr, "%s cannot be run: %s\n", arguments[2], strerror(errno));
  return kNoProgram;
}
