// Impacts: the Pareto set of (frequency, norm) of a block or list, kept small.
//
// Thread-safety: an ImpactCollector belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "posting_list.h"

namespace gannet {

class ImpactCollector {
 public:
  void Add(uint32_t frequency, uint8_t norm) {
    const uint16_t saturated = static_cast<uint16_t>(frequency < 65535 ? frequency : 65535);
    if (saturated > best_[norm]) {
      best_[norm] = saturated;
      touched_[norm / 64] |= uint64_t{1} << (norm % 64);
    }
  }
  // Appends the Pareto set to *out (norm and frequency ascending strictly) and starts over. Pairs are merged until
  // there are at most `count_max`: a merged pair has the higher frequency and the shorter length of the two, so it
  // still bounds every posting. The pairs whose merging loses least are chosen, with lengths measured against
  // `average_length`.
  void TakeInto(size_t count_max, float average_length, std::vector<Impact>* out);

 private:
  std::array<uint16_t, 256> best_{};     // highest frequency, by norm
  std::array<uint64_t, 4> touched_{};    // norms that have a frequency
};

}  // namespace gannet
