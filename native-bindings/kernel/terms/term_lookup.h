// Looks up words in the dictionaries of a generation.
//
// Terms are folded UTF-8, as the analyzer makes them. Document frequencies are sums over the segments and include
// deleted documents until a merge drops them.
//
// Thread-safety: pure functions of immutable data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../generation/generation.h"

namespace gannet {

struct TermMatch {
  std::string term;
  uint32_t distance = 0;  // edits; 0 for prefixes
  uint64_t document_frequency = 0;

  bool operator==(const TermMatch&) const = default;
};

// Maximum number of terms of a segment that are examined for one prefix: a prefix of one letter has no useful answer
// anyway.
inline constexpr uint32_t kPrefixTermsVisitedMax = 65536;
// Maximum number of edits in a look-up.
inline constexpr uint32_t kFuzzyDistanceMax = 2;

std::vector<uint64_t> DocumentFrequencies(const Generation& generation, std::span<const std::string_view> terms);

// Document frequencies of what a word consists of when it is split between two of its characters.
struct SplitFrequencies {
  uint64_t rarer_part = 0;
  // Of both parts in one word, with a full stop and with a low line between them. Such a word is indexed by its parts as
  // well (analysis/word_parts.h), so it is only looked up if both parts were found, or if one is a single character,
  // which is not indexed.
  uint64_t with_full_stop = 0;
  uint64_t with_low_line = 0;

  bool operator==(const SplitFrequencies&) const = default;
};

// Returns the frequencies for each place between two characters of the word, from first to last. Costs far less than to
// look up all of these words.
std::vector<SplitFrequencies> FindSplits(const Generation& generation, std::string_view word);

// Returns the `limit` most frequent terms that begin with `prefix`, among the first kPrefixTermsVisitedMax of each
// segment in byte order; by document frequency descending, then term. Terms too long to be stored whole are left out.
std::vector<TermMatch> FindPrefix(const Generation& generation, std::string_view prefix, size_t limit);

}  // namespace gannet
