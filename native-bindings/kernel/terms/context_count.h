// How many documents hold a word together with others: what the completions of a query would find.
//
// The other words are looked up once, whatever the number of completions; then each completion's postings are held
// against the documents that have them.
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

// A word of the context: the terms of which a document has to hold one.
using ContextWord = std::vector<std::string>;

struct ContextCounts {
  uint64_t context = 0;               // live documents that hold all words of the context
  std::vector<uint64_t> completions;  // of these, those that hold the completion; by its place
};

// Counts for the completions in their order until `wanted` of them have a document; the counts behind stay 0. Without a
// word, every live document is the context.
ContextCounts CountInContext(const Generation& generation, std::span<const ContextWord> context,
                             std::span<const std::string> completions, size_t wanted);

}  // namespace gannet
