// Maps query words to the terms of a generation that they may stand for: same stem, misspelt, completed, or compound.
//
// Thread-safety: pure functions of immutable data; answers about a segment are kept in its cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"
#include "term_lookup.h"

namespace gannet {

inline constexpr uint32_t kExpandedTermsMax = 1024;  // of each kind and word
inline constexpr uint32_t kExpandedWordsMax = 4096;

struct ExpansionLimits {
  uint32_t stems = 0;
  uint32_t typos = 0;
  uint32_t prefixes = 0;
  uint32_t compounds = 0;
};

// See WordExpansion in native-bindings/kernel-types.ts.
struct WordExpansion {
  uint64_t document_frequency = 0;
  std::vector<TermMatch> stems;
  std::vector<TermMatch> typos;
  std::vector<TermMatch> prefixes;
  std::vector<TermMatch> compounds;
};

// `words` are folded terms; `edits` has one number (at most kSpellingEditsMax) per word. Throws Error(kInvalidArgument)
// if a limit above is exceeded.
std::vector<WordExpansion> ExpandWords(const Generation& generation, std::span<const std::string> words,
                                       std::span<const uint32_t> edits, const ExpansionLimits& limits);

}  // namespace gannet
