// Counts the hits of a search that has one hit per value of a column (QueryPlan::is_distinct), over all lists of a
// group, and the values of its facets.
//
// The matches that share a value of the distinct column are one hit, whichever list, or segment, they are in; a match
// without a value is a hit by itself. A value of a facet counts the hits that have a match with it: as many as a search
// would have whose filter asks for it, too.
//
// Matches are ordered by their distinct values, by counting sort, so that those that share a value follow one another;
// each value of a facet remembers the last of them that it was counted for. So memory is 4 bytes per match, 4 per
// distinct value and 8 per value of a facet, besides UnitedValues.
//
// Thread-safety: one thread. Looks at the flag to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../generation/generation.h"
#include "kept_matches.h"

namespace gannet {

// A column of a list as one of several that are counted together: columns of one kind hold the same kind of values in
// different lists.
struct CountedColumn {
  uint32_t column = 0;
  uint32_t kind = 0;
};

// A list and what it matched. If it has no distinct column, each match is a hit.
struct DistinctList {
  const Generation* generation = nullptr;
  KeptMatches matches = {};
  std::optional<CountedColumn> distinct = {};
  std::vector<CountedColumn> facets = {};  // at most one of each kind
  std::vector<uint32_t> hits = {};         // record numbers of matches of which DistinctCounts::sharing is wanted
};

struct DistinctFacets {
  uint32_t kinds = 0;          // number of kinds of facets
  uint32_t values_wanted = 0;  // of each facet
  std::span<const std::string_view> words = {};  // value_words.h
};

struct DistinctCounts {
  uint64_t total = 0;
  // By list and its hit: the number of matches, of all lists, that share its value, itself included.
  std::vector<std::vector<uint32_t>> sharing = {};
  // By kind: `[{"value":..,"count":..},..]`, and `{"min":..,"max":..}` or nothing.
  std::vector<std::string> facets = {};
  std::vector<std::string> ranges = {};
};

// Throws Error(kInvalidArgument) if a column is a location, Error(kLimit) if there are 2^32 records or more.
DistinctCounts CountDistinct(std::span<const DistinctList> lists, const DistinctFacets& facets);

}  // namespace gannet
