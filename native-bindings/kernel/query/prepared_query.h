// A plan whose groups were looked up in a generation: posting lists, idf, and the score of a perfect match.
//
// Scores. A group contributes weight * f / (f + K). f is the sum of its alternatives' weighted frequencies in the
// document; K = k1 * (1 - b + b * length / average length) with the length that the norm code stands for; weight =
// boost * idf / maximum. Contributions are added as floats in the order of `groups`: by falling bound, ties by place in
// the plan. The order depends on query and generation only, and pruning, which sets aside the groups of least bound,
// keeps it. So a document scores the same, to the bit, in whatever segment, window or way it is found.
//
// A phrase's frequency is the sum, over its occurrences, of the weight units of the field of each, as if it were a
// term. Its document frequency is estimated by that of its rarest term, which it cannot exceed.
//
// The bonus (proximity_scorer.h) is added to the sum of the groups at the end: that for a whole field and the
// contributions of the pairs, in the order of `pairs`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../common/inline_vector.h"
#include "../generation/generation.h"
#include "../postings/posting_list.h"
#include "query_plan.h"

namespace gannet {

// Measured: docs/decisions/0010-scoring-constants.md.
inline constexpr double kSaturationK1 = 1.5;
inline constexpr double kLengthB = 0.65;
inline constexpr uint32_t kProximityDistanceMax = 8;

// A term's list in a segment that has the term.
struct SegmentList {
  uint32_t segment;
  PostingList list;
};

// The lists of a term by segment. Beside a large segment most small ones have a few documents and lack most terms; for
// these, nothing is stored.
class TermLists {
 public:
  TermLists() = default;
  // Ascending by segment.
  explicit TermLists(std::span<const SegmentList> lists) : lists_(lists) {}

  // Returns an empty list if the segment lacks the term.
  const PostingList& operator[](size_t segment) const {
    static constexpr PostingList kNone;
    // The list is at index `segment` if all segments before it have the term, else before that index.
    for (size_t place = std::min(segment + 1, lists_.size()); place > 0 && lists_[place - 1].segment >= segment; --place) {
      if (lists_[place - 1].segment == segment) return lists_[place - 1].list;
    }
    return kNone;
  }
  auto begin() const { return lists_.begin(); }
  auto end() const { return lists_.end(); }

 private:
  std::span<const SegmentList> lists_;
};

struct PreparedTerm {
  std::string_view text;
  uint64_t document_frequency = 0;
  uint32_t list_count = 0;
  TermLists lists;
};

struct PreparedAlternative {
  float weight = 1;
  InlineVector<uint32_t, 2> terms;  // indexes into PreparedQuery::terms; several = a phrase, in order
  uint64_t document_frequency = 0;
  AlternativeKind kind = AlternativeKind::kWord;
  bool counts = false;  // for the idf of its group (AlternativeKind)
  bool is_joined = false;  // its list is the joined one of all longer words (longer_words.h)

  bool is_phrase() const { return terms.size() > 1; }
};

struct PreparedGroup {
  Occur occur = Occur::kShould;
  uint32_t plan_index = 0;
  float boost = 1;
  double idf = 0;
  double bound = 0;  // the most that the group alone can add to the sum, before division by the maximum
  float weight = 0;  // boost * idf / maximum
  std::vector<PreparedAlternative> alternatives;
  // The alternatives that were joined (longer_words.h); empty if none were.
  std::vector<PreparedAlternative> longer;
  uint64_t without_exact = 0;  // number of documents that have some of `longer`, and no other counting alternative
  // Order in which frequencies are summed: phrases, then terms by falling document frequency (indexes into
  // alternatives).
  std::vector<uint32_t> summing_order;
  std::vector<uint32_t> sequence_terms;  // terms whose positions earn a proximity bonus: distinct, ascending
  std::vector<uint32_t> whole_terms;     // those of sequence_terms that may stand in a field that is the query

  bool scores() const { return occur != Occur::kMustNot; }
};

// Two groups whose words may stand near each other.
struct PreparedPair {
  uint32_t first;   // indexes into PreparedQuery::groups
  uint32_t second;
  uint32_t orders;  // 1, or 2 if the words follow each other both ways in the query
  double value;     // proximity weight * mean idf * orders
  double bound = 0;      // the most that it can add to the sum, before division by the maximum
  float weight = 0;      // value / maximum
  float rest_bound = 0;  // the most that this pair and those after it can add to a score, rounding included
};

// The bonus for a text field that is the query, word by word.
struct PreparedWhole {
  std::vector<WholeFieldMatches> matches;  // by segment; empty: no document has the bonus
  double value = 0;                        // whole field weight * sum of boost * idf
  float weight = 0;                        // value / maximum
  float bound = 0;  // the most that it adds to the score of any of these documents, rounding included
};

struct PreparedQuery {
  PreparedQuery() = default;
  // Move-only, because terms point into `lists`.
  PreparedQuery(PreparedQuery&&) = default;
  PreparedQuery& operator=(PreparedQuery&&) = default;
  PreparedQuery(const PreparedQuery&) = delete;
  PreparedQuery& operator=(const PreparedQuery&) = delete;

  const Generation* generation = nullptr;
  std::vector<PreparedTerm> terms;    // distinct
  std::vector<SegmentList> lists;     // of all terms, one term after the other
  std::vector<std::vector<SegmentList>> joined_lists;  // the joined lists, which no segment has (longer_words.h)
  std::vector<JoinedList> joined_bytes;                // the bytes that joined_lists point into
  std::vector<PreparedGroup> groups;  // in order of scoring
  bool has_scoring_groups = false;
  bool has_must = false;
  bool has_signed_terms = false;      // some terms may be at the same positions as others (analysis/signed_words.h)
  std::vector<bool> has_terms;        // by segment: true if it has any of the terms
  std::vector<PreparedPair> pairs;    // in order of scoring: by falling bound
  PreparedWhole whole;
  double maximum = 1;                 // the greatest sum that the lists' impacts and the bonus allow
  // The most that the pairs can add to the score of a document, by its norm code, rounding included.
  std::array<float, 256> pairs_bound{};
  float pairs_bound_max = 0;
  std::array<float, 256> saturation;  // K by norm code

  // Returns false if no document of the segment can match. For most small segments beside a large one, this is the only
  // question.
  bool MayMatch(uint32_t segment) const { return !has_scoring_groups || has_terms[segment]; }

  // Returns the most that a pair adds to a score, rounding included.
  float BonusBound(const PreparedPair& pair) const;
};

// `plan` must outlive the result. Without `for_scores`, only what is needed to find matches is prepared.
PreparedQuery PrepareQuery(const Generation& generation, const QueryPlan& plan, bool for_scores = true);

}  // namespace gannet
