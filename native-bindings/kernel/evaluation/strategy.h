// The ways in which a query is evaluated in a segment. One is chosen when the segment is begun, by what the query asks for, what of
// it the segment has, and what is wanted of the matches; SegmentEvaluator has what each of them takes.
#pragma once

#include <cstdint>

namespace gannet {

enum class Strategy : uint8_t {
  kNothing,         // no document can match
  kEveryDocument,   // no word has to match
  kByDocument,      // conjunctions with a short list, document by document (match/conjunction_evaluator.h)
  kIntersection,    // other conjunctions, by sets of bits, window by window
  kUnionOfMatches,  // unions without scores, by sets of bits, many windows at a time (union/union_matcher.h)
  kUnionByWindow,   // unions with scores, window by window (union/window_union.h)
  kUnionBySpan,     // the same where postings are few, span by span (union/span_union.h), else window by window
};

// The windows come from a WindowUnion.
inline bool IsScoredUnion(Strategy strategy) {
  return strategy == Strategy::kUnionByWindow || strategy == Strategy::kUnionBySpan;
}

}  // namespace gannet
