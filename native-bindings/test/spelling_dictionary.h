// A spelling index built from terms, as in a segment.
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
  // Not copyable: the index points into the writer.
  SpellingDictionary(const SpellingDictionary&) = delete;
  SpellingDictionary& operator=(const SpellingDictionary&) = delete;

  SpellingIndexWriter writer;
  std::vector<uint32_t> backwards;
  SpellingIndex index;
};

}  // namespace gannet::test
