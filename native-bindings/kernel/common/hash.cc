#include "hash.h"

#include <random>

namespace gannet {

uint64_t ProcessSeed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }();
  return seed;
}

}  // namespace gannet
