// Counts the documents that have a word together with others, that is, what the completions of a query would find.
//
// The other words are looked up once, whatever the number of completions; the postings of each completion are then
// compared with the documents that have all of them.
//
// Thread-safety: pure functions of immutable data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

// A word of the context: terms of which a document must have at least one.
using ContextWord = std::vector<std::string>;

struct ContextCounts {
  uint64_t context = 0;               // number of live documents that have all words of the context
  std::vector<uint64_t> completions;  // by completion: how many of these documents have it
};

// Counts the completions in order until `wanted` of them have a document; the remaining counts stay 0. If the context
// has no words, it is all live documents.
ContextCounts CountInContext(const Generation& generation, std::span<const ContextWord> context,
                             std::span<const std::string> completions, size_t wanted);

}  // namespace gannet
