// Names what a generation's dictionaries say about a word, so that a caller need weigh it only once while it stays the
// same.
//
// Every write makes a new generation, which says nearly the same about words as the last one: only a few small segments
// were added and removed. Summing up again the terms that a word may stand for, from what is cached for each segment,
// takes some microseconds. Passing them to the caller and weighing them takes ten times as much, and is skipped if they
// are the same terms in the same order as in an earlier generation.
//
// Thread-safety: pure functions of immutable data; names are kept in the caches of segments, which lock internally.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"
#include "word_expander.h"

namespace gannet {

// Name for every word that the generation does not have, nor anything similar.
inline constexpr uint64_t kNothingKnownName = 0;

// Returns a name per word. If two names are the same, in whatever generations, ExpandWords gives the same stems, typos
// and compounds in the same order with the same distances, and the word's document frequency is zero in both or in
// neither; the frequencies themselves may differ, and prefixes are not considered. Equal expansions may have several
// names. Names are below 2^53 and never used for anything else in this process. Throws Error(kInvalidArgument) as
// ExpandWords does.
std::vector<uint64_t> NameExpansions(const Generation& generation, std::span<const std::string> words,
                                     std::span<const uint32_t> edits, ExpansionLimits limits);

}  // namespace gannet
