// A hit of a search, as the collector keeps it.
//
// Thread-safety: none needed.
#pragma once

#include <cstdint>

namespace gannet {

struct Hit {
  float score = 0;
  uint32_t record_number = 0;
  uint32_t segment = 0;  // index in the generation
  uint32_t document = 0;
  bool has_bonus = false;  // its score has the bonus
  float bonus_bound = 0;   // if not has_bonus: the most that the bonus can be
  bool is_late = false;    // its score is not known yet
};

// A hit by its index in the collector's buffer, with its rank in the order of scores: the lower, the better.
struct RankedHit {
  uint64_t rank;
  uint32_t index;
};

}  // namespace gannet
