// A parsed plan. Strings are views into the plan's bytes, which the caller must keep alive.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../common/inline_vector.h"
#include "plan.h"

namespace gannet {

struct PlanAlternative {
  float weight = 1;
  InlineVector<std::string_view, 1> terms;  // one, or the words of a phrase in order
  AlternativeKind kind = AlternativeKind::kWord;
};

struct PlanGroup {
  Occur occur = Occur::kShould;
  float boost = 1;
  std::vector<PlanAlternative> alternatives;
};

struct PlanValue {
  bool is_number = false;
  double number = 0;
  std::string_view text;
};

struct GeoPoint {
  double latitude = 0;
  double longitude = 0;
};

struct FilterNode {
  FilterOp op = FilterOp::kAll;
  uint16_t column = 0;
  std::vector<PlanValue> values;     // one for comparisons, any number for kIn and kRecord
  std::vector<FilterNode> children;  // kAnd, kOr: any number; kNot: one
  GeoPoint centre;                   // kWithin; kInBox: the south-western corner
  double metres = 0;                 // kWithin
  GeoPoint opposite = {};            // kInBox: the north-eastern corner
};

struct SortKey {
  SortBy by = SortBy::kScore;
  bool descending = false;
  uint16_t column = 0;
  GeoPoint origin;
};

struct PlanFacet {
  uint16_t column = 0;
  uint32_t values_wanted = 0;
};

struct QueryPlan {
  uint32_t flags = 0;
  uint32_t skip = 0;
  uint32_t size = 0;
  float minimum_score = 0;
  float proximity_weight = 0;
  float whole_field_weight = 0;
  std::vector<PlanGroup> groups;
  std::vector<uint16_t> sequence;  // indexes of groups
  std::vector<uint16_t> whole;     // likewise
  FilterNode filter;
  std::vector<SortKey> sort_keys;
  std::vector<PlanFacet> facets;
  bool has_distance = false;
  uint16_t distance_column = 0;
  GeoPoint distance_origin;
  std::vector<uint32_t> text_fields;  // ascending strictly; empty: all
  std::vector<std::string_view> facet_words;
  bool is_distinct = false;
  uint16_t distinct_column = 0;
};

// Throws Error(kInvalidArgument) if the bytes are not a plan within the limits of plan.h.
QueryPlan ParsePlan(std::span<const uint8_t> bytes);

}  // namespace gannet
