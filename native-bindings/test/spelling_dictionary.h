// A spelling index made of terms, as a segment's is.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../kernel/common/bytes.h"
#include "../kernel/vocabulary/spelling_index.h"

namespace gannet::test {

struct SpellingDictionary {
  explicit SpellingDictionary(const std::set<std::string>& terms) {
    for (const std::string& term : terms) writer.Add(term);
    backwards = writer.Backwards();
    index = SpellingIndex(AsBytes(writer.text()), writer.offsets(), backwards);
  }
  // The index reads what the writer holds.
  SpellingDictionary(const SpellingDictionary&) = delete;
  SpellingDictionary& operator=(const SpellingDictionary&) = delete;

  SpellingIndexWriter writer;
  std::vector<uint32_t> backwards;
  SpellingIndex index;
};

}  // namespace gannet::test
