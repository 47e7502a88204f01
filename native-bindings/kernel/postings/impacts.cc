#include "impacts.h"

#include <bit>

#include "norm.h"

namespace gannet {
namespace {

// The shape of BM25 with k1 = 1.2 and b = 0.75. It only chooses which pairs to merge: whatever it returns, the result
// stays an upper bound.
float Score(uint16_t frequency, uint8_t norm, float average_length) {
  return frequency / (frequency + 1.2f * (0.25f + 0.75f * NormLengths()[norm] / average_length));
}

}  // namespace

void ImpactCollector::TakeInto(size_t count_max, float average_length, std::vector<Impact>* out) {
  const size_t begin = out->size();
  uint16_t highest = 0;
  for (unsigned word = 0; word < 4; ++word) {
    for (uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
      const unsigned norm = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
      if (best_[norm] > highest) {
        highest = best_[norm];
        out->push_back({highest, static_cast<uint8_t>(norm)});
      }
      best_[norm] = 0;
    }
    touched_[word] = 0;
  }
  while (out->size() - begin > count_max) {
    size_t cheapest = begin;
    float cheapest_loss = 2;
    for (size_t i = begin; i + 1 < out->size(); ++i) {
      const Impact& shorter = (*out)[i];
      const Impact& longer = (*out)[i + 1];
      const float merged = Score(longer.frequency, shorter.norm, average_length);
      const float before = std::max(Score(shorter.frequency, shorter.norm, average_length),
                                    Score(longer.frequency, longer.norm, average_length));
      if (merged - before < cheapest_loss) {
        cheapest_loss = merged - before;
        cheapest = i;
      }
    }
    (*out)[cheapest].frequency = (*out)[cheapest + 1].frequency;
    out->erase(out->begin() + static_cast<std::ptrdiff_t>(cheapest) + 1);
  }
}

}  // namespace gannet
