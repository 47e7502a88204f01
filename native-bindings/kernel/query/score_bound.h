// Computes the greatest score that any document of the lists could have for a query: the one that is reported as 1.
//
// The bound is computed per length code n, from the impacts of the whole lists (every posting has a pair with at least
// its frequency and at most its length):
//   - a term's frequency in a document of code n is at most F(n), the highest frequency of any pair with norm <= n; a
//     phrase's is at most the least F(n) of its terms;
//   - a group's frequency is at most the sum of weight * F(n) over its alternatives;
//   - a document of code n has a length of at most L(n), which includes what parts of its words take up (they are not
//     in the code: Segment::part_units), and every occurrence takes up its weight units of it. So if no term serves
//     twice in the query, nor is one with signs, which takes no place of its own (analysis/signed_words.h), the groups
//     share L(n). (A document "red shoes" then is a perfect match for red
//     shoes, although a document "red" scores higher for red.) The best division of L(n) among the concave functions is
//     found with a Lagrange multiplier. Any multiplier gives a valid bound, so the few steps towards the best one only
//     decide how tight it is;
//   - the nearness of a pair of groups with a and b occurrences is at most a * S(b) and b * S(a), where S(n) is the sum
//     of the n greatest 1 / distance (two of each) and a + b occurrences fit into L(n);
//   - the documents with a field that is the query are known, and so is the bonus of each.
// The bound is the greatest over all n. It is valid for several alternatives, phrases and repeats, and exact for one
// word: then it is the score of its best impact.
#pragma once

#include "prepared_query.h"

namespace gannet {

// Sets `bound` of every group and `pairs_bound` (not yet divided by the maximum). Returns the bound of the sum over the
// groups that score; 0 if nothing can match.
double BoundScores(PreparedQuery* query);

}  // namespace gannet
