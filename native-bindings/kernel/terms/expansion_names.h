// Names for what a generation's dictionaries say about a word, so that a caller weighs it once for as long as it stays.
//
// Every write makes a new generation, and nearly everything that it says about words is what the last one said: only a
// few small segments have come and gone. The terms that a word may stand for are summed up again from what is kept of
// each segment, which takes some microseconds; handing them over and weighing them takes ten times as much, and is left
// out where they are the same terms in the same order as in a generation before.
//
// Thread-safety: pure functions of immutable data; names are kept in the caches of segments, which lock by themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../generation/generation.h"
#include "word_expander.h"

namespace gannet {

// Of every word that the generation does not have, nor anything like it.
inline constexpr uint64_t kNothingKnownName = 0;

// A name per word. Wherever it is the same, in whatever generation, ExpandWords gives the same stems, typos and
// compounds in the same order and with the same distances, and a document frequency that is zero or not alike; the frequencies themselves
// may differ, and prefixes are left aside. Terms that are the same may have several names. Below 2^53; a name is never
// given to anything else in this process. Error(kInvalidArgument) as ExpandWords.
std::vector<uint64_t> NameExpansions(const Generation& generation, std::span<const std::string> words,
                                     std::span<const uint32_t> edits, ExpansionLimits limits);

}  // namespace gannet
