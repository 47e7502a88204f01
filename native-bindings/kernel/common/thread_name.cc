#include "thread_name.h"

#include <pthread.h>

namespace gannet {

bool NameThread(const std::string& name) {
  const std::string kept = name.substr(0, kThreadNameBytesMax);
#ifdef __APPLE__
  return pthread_setname_np(kept.c_str()) == 0;
#else
  return pthread_setname_np(pthread_self(), kept.c_str()) == 0;
#endif
}

}  // namespace gannet
