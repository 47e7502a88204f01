// Runs a program that the operating system kills as soon as the process that started it ends, in whatever way. A killed service cannot end the
// processes that it started, and a process that hangs would not react to anything but a kill.
//
//   end_with_parent PID-OF-PARENT PROGRAM [ARGUMENT...]
//
// PROGRAM is a path. Only Linux has such a signal. On other systems the program runs without it.
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
  // If the parent ended before prctl, the signal does not come any more.
  if (getppid() != (pid_t)atol(arguments[1])) return kNoProgram;
#endif
  execv(arguments[2], arguments + 2);
  fprintf(stderr, "%s cannot be run: %s\n", arguments[2], strerror(errno));
  return kNoProgram;
}
