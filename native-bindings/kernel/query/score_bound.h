// The greatest score that any document of these lists could have for a query: what a score of 1 means.
//
// Per length code n, with everything taken from the impacts of the whole lists (every posting has a pair that is
// no less frequent and no longer):
//   - a term's frequency in a document of code n is at most F(n), the highest frequency of any pair with norm <= n;
//     a phrase's is at most the least of its terms' F(n);
//   - a group's is at most the sum of weight * F(n) over its alternatives;
//   - a document of code n is at most L(n) long, and every occurrence takes up its weight units of that length, so
//     where no term serves twice in the query the groups share L(n). (A document "red shoes" then is a perfect
//     match of red shoes, although a document "red" scores higher for red.) The best division of L(n) among
//     concave functions is found with a Lagrange multiplier; any multiplier gives a bound, so the few steps that
//     we take towards the best one only decide how tight it is.
//   - the nearness of a pair of groups with a and b occurrences is at most a * S(b) and b * S(a), S(n) being the sum of
//     the n greatest 1 / distance (two of each), where a + b occurrences fit into L(n).
//   - the documents with a field that is the query are known, and so is the bonus of each.
// The bound is the greatest over all n. It is sound for multiple alternatives, phrases and repeats, and exact for
// one word: then it is the score of its best impact.
#pragma once

#include "prepared_query.h"

namespace gannet {

// Sets `bound` of every group and `pairs_bound` (not yet divided by the maximum) and returns the bound of the sum over groups that score; 0 where nothing can match.
double BoundScores(PreparedQuery* query);

}  // namespace gannet
