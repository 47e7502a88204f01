// The ways in which a query is evaluated in a segment. One is chosen when the segment is begun, by the query, by which
// of its terms the segment has, and by what is needed of the matches; SegmentEvaluator keeps the parts that each of
// them needs.
#pragma once

#include <cstdint>

namespace gannet {

enum class Strategy : uint8_t {
  kNothing,         // no document can match
  kEveryDocument,   // no word has to match
  kByDocument,      // conjunctions with a short list, document by document (match/conjunction_evaluator.h)
  kIntersection,    // other conjunctions, with bit sets, window by window
  kUnionOfMatches,  // unions without scores, with bit sets, many windows at a time (union/union_matcher.h)
  kUnionByWindow,   // unions with scores, window by window (union/window_union.h)
  kUnionBySpan,     // as kUnionByWindow, but span by span (union/span_union.h) if there are few postings
};

// True if the windows come from a WindowUnion.
inline bool IsScoredUnion(Strategy strategy) {
  return strategy == Strategy::kUnionByWindow || strategy == Strategy::kUnionBySpan;
}

}  // namespace gannet
