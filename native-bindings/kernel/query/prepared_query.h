// A plan's groups looked up in a generation: posting lists, idf, and what a perfect match would score.
//
// Scores. A group contributes weight * f / (f + K), f the sum of its alternatives' weighted frequencies in the
// document, K = k1 * (1 - b + b * length / average length) with the length that the norm code stands for, weight =
// boost * idf / maximum. Contributions are added as floats in the order of `groups`: by falling bound, ties by
// place in the plan. The order depends on query and generation only, and pruning that sets aside the groups of
// least bound keeps it; so a document scores the same, to the bit, in whatever segment, window or way it is found.
//
// A phrase's frequency is the sum over its occurrences of the weight units of the field that each lies in, as if
// it were a term; its document frequency is estimated by that of its rarest term, which it cannot exceed.
//
// The bonus (proximity_scorer.h) comes on top: that for a whole field and the pairs' contributions, added in the order of
// `pairs`, are added to the sum of the groups' at the end.
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

// A term's list in a segment that has it.
struct SegmentList {
  uint32_t segment;
  PostingList list;
};

// The lists of a term by segment. Beside writes most segments have a few documents and lack most terms: of these there is nothing.
class TermLists {
 public:
  TermLists() = default;
  // Ascending by segment.
  explicit TermLists(std::span<const SegmentList> lists) : lists_(lists) {}

  // An empty one where the segment lacks the term.
  const PostingList& operator[](size_t segment) const {
    static constexpr PostingList kNone;
    // At its own place where all segments before it have the term, too; else before it.
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
  bool is_joined = false;  // in one list of all longer words (longer_words.h)

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
  // Those that the joined one of the alternatives is made of; empty where none is.
  std::vector<PreparedAlternative> longer;
  uint64_t without_exact = 0;  // documents that have some of these, and nothing else that counts
  // In which frequencies are summed: phrases, then terms by falling document frequency (indexes into alternatives).
  std::vector<uint32_t> summing_order;
  std::vector<uint32_t> sequence_terms;  // whose positions earn a proximity bonus: distinct, ascending
  std::vector<uint32_t> whole_terms;     // of these, those that may stand in a field that is the query

  bool scores() const { return occur != Occur::kMustNot; }
};

// Two groups whose words may stand near each other.
struct PreparedPair {
  uint32_t first;   // indexes into PreparedQuery::groups
  uint32_t second;
  uint32_t orders;  // 1, or 2 where the words follow each other both ways in the query
  double value;     // proximity weight * mean idf * orders
  double bound = 0;      // the most that it can add to the sum, before division by the maximum
  float weight = 0;      // value / maximum
  float rest_bound = 0;  // the most that it and those behind it can add to a score, rounding included
};

// A text field that is the query, word by word.
struct PreparedWhole {
  std::vector<WholeFieldMatches> matches;  // by segment; empty: no document has the bonus
  double value = 0;                        // whole field weight * sum of boost * idf
  float weight = 0;                        // value / maximum
  float bound = 0;                         // the most that it adds to the score of any of them, rounding included
};

struct PreparedQuery {
  PreparedQuery() = default;
  // Terms point into `lists`.
  PreparedQuery(PreparedQuery&&) = default;
  PreparedQuery& operator=(PreparedQuery&&) = default;
  PreparedQuery(const PreparedQuery&) = delete;
  PreparedQuery& operator=(const PreparedQuery&) = delete;

  const Generation* generation = nullptr;
  std::vector<PreparedTerm> terms;    // distinct
  std::vector<SegmentList> lists;     // of all terms, one after the other
  std::vector<std::vector<SegmentList>> joined_lists;  // of terms that are none of a segment (longer_words.h)
  std::vector<JoinedList> joined_bytes;                // what these point into
  std::vector<PreparedGroup> groups;  // in order of scoring
  bool has_scoring_groups = false;
  bool has_must = false;
  std::vector<bool> has_terms;        // by segment: whether it has any of the terms
  std::vector<PreparedPair> pairs;    // in order of scoring: by falling bound
  PreparedWhole whole;
  double maximum = 1;                 // the greatest sum that the lists' impacts and the bonus allow
  // The most that the pairs can add to the score of a document, by its norm code, rounding included.
  std::array<float, 256> pairs_bound{};
  float pairs_bound_max = 0;
  std::array<float, 256> saturation;  // K by norm code

  // False where no document of the segment can match: of most small segments beside a large one, this is all to be asked.
  bool MayMatch(uint32_t segment) const { return !has_scoring_groups || has_terms[segment]; }

  // The most that a pair adds to a score, rounding included.
  float BonusBound(const PreparedPair& pair) const;
};

// `plan` must outlive the result. Without `for_scores` there is only what finding matches takes.
PreparedQuery PrepareQuery(const Generation& generation, const QueryPlan& plan, bool for_scores = true);

}  // namespace gannet
