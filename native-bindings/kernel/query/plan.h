// The bytes in which a query gets from the planner (TypeScript) to the kernel, and the result back.
//
// Little-endian, no alignment. `str` is u32 length + UTF-8. Written by native-bindings/query-plan.ts. Parsing checks
// every bound and limit: a malformed plan is Error(kInvalidArgument), never a crash.
//
//   u32 kPlanMagic
//   u32 flags (PlanFlag)
//   u32 skip, u32 size               (hits wanted; skip + size <= kHitsMax)
//   f32 minimum score                (0..1; 0 = none)
//   f32 proximity weight             (0..1; 0 = no bonus for neighbours)
//   f32 whole field weight           (0..1; 0 = no bonus for a field that is the query)
//   u32 group count                  (0 = every document matches)
//   per group:                       (one query word with its expansions, or a whole phrase)
//     u8 occur (Occur)
//     f32 boost                      (> 0)
//     u16 alternative count          (>= 1)
//     per alternative:
//       u8 kind (AlternativeKind)
//       f32 weight                   (0 < weight <= 1; as typed = 1)
//       u16 term count               (1 = a term; more = terms at consecutive positions)
//       per term: str
//   u16 sequence length              (words in the order of the query, function words left out)
//   per word: u16 group
//   u16 whole length                 (all words in the order of the query, function words included; 0 = no bonus)
//   per word: u16 group
//   filter:                          one node, prefix order
//     u8 FilterOp
//       kAll                         everything
//       kAnd / kOr                   u16 count, nodes
//       kNot                         node
//       kEqual .. kGreaterOrEqual    u16 column, value
//       kIn                          u16 column, u16 count, values
//       kIsNull                      u16 column
//       kRecord                      u16 (not read), u16 count, values (numbers of records)
//       kWithin                      u16 column (location), f64 latitude, f64 longitude, f64 metres
//       kInBox                       u16 column (location), f64 south, f64 west, f64 north, f64 east (degrees)
//     value: u8 kind (0 string: str folded key; 1 number: f64)
//   u8 sort key count                (0 = by score, ties by record number)
//   per key: u8 SortBy, u8 descending, u16 column (kColumn; the location's for kDistance), f64 latitude,
//            f64 longitude (kDistance) -- every key has all five, whatever its kind
//   u16 facet count
//   per facet: u16 column, u32 values wanted
//   u16 distance column + 1          (0 = hits carry no distance)
//   f64 latitude, f64 longitude      (present when the above is not 0)
//   u16 text field count             (that are searched for words; 0 = all)
//   per field: u16                   (ascending strictly)
//   u16 facet word count             (string facets return values in which each begins a word; 0 = all values)
//   per word: str                    (folded, not empty)
//   u16 distinct column + 1          (a column with at most one value per document; 0 = every match is a hit)
//
// Meaning:
//   - A group matches a document if any alternative does. All kMust groups have to match; if there is no kMust group,
//     at least one kShould group has to; no kMustNot group may match.
//   - If a plan names text fields, words match and score as in a list that has only these fields.
//   - A comparison on a many-valued column holds if any value does; kNotEqual is not(kEqual); a missing value
//     satisfies only kIsNull and kNotEqual. Values of another kind than the column's never match.
//   - Sorting: missing values last, in either direction; ties by score, then by record number.
//   - With a distinct column, of the matches that share its value only the one that comes first in the order is a hit;
//     those without a value are all hits. Total count and facets still count matches: CountDistinct (collect/
//     distinct_count.h) counts the hits of one or several lists, from the matches that kKeepMatches asks for.
//   - Radius: great-circle distance on a sphere of 6,371,008.8 m. Box: borders included; one whose west is greater
//     than its east crosses the antimeridian; one of 360 degrees or more contains every longitude.
//
// Scores: BM25F with combined fields (Robertson, Zaragoza, Taylor 2004). The weighted frequencies of a group's
// alternatives are summed, each times its weight (longer words together: longer_words.h), and saturated once with
// kSaturationK1 and kLengthB. idf = ln(1 + (N - df + 0.5) / (df + 0.5)), where N is the number of documents of the
// generation and df the number of documents that have any of the alternatives that count (AlternativeKind); a phrase
// adds the df of its rarest term.
//
// Proximity bonus: neighbours in the sequence are a pair of groups. Each pair counts once in each order, unless the two
// share a term. A pair adds proximity weight * (idf + idf') / 2 * t / (t + K), with K as for a word; t is the sum, over
// occurrences of the one and of the other within kProximityDistanceMax positions in one field (either order), of the
// field's weight units / distance. Occurrences are those of the counting alternatives that are single terms.
//
// Whole-field bonus: a document with a text field that has exactly one term of each word of `whole`, in this order,
// gets whole field weight * (sum over these words' groups, each once, of boost * idf) * u / (u + K), where u is the
// weight units of the weightiest such field. The terms are those of counting alternatives with a weight of at least
// kWholeFieldTermWeightMin: as typed, or as good as that.
//
// The reported score is the total divided by the greatest total that the impacts of these lists allow, so it is in 0..1
// and depends on nothing but query, record and list. Without scoring groups every match scores 1.
//
// Result:
//   u32 kResultMagic
//   u32 hit count
//   f64 total count                  (matches before skip/size, after filter and minimum score)
//   per hit: u32 record number, f32 score, f64 distance (NaN = none), f64 latitude, f64 longitude (NaN = none)
//   u32 facets bytes, UTF-8 JSON     `{"brand":[{"value":"x","count":3}]}`; number/date/boolean values typed,
//                                    dates as ISO strings; empty when no facet was asked for
//   u32 ranges bytes, UTF-8 JSON     `{"price":{"min":1,"max":9}}` for number and date facets; empty when none
//   u32 explain bytes, UTF-8 JSON    an array, one object a hit, when kExplain is set; else empty
//   u32 source count                 (0: words alone, whose score is the hit's)
//   per source: u8 kind              (ScoreKind, sources/source.h)
//   per hit, per source: f32 score   (0 = not found by it), u32 place (kNoPlace = none)
//   u32 segment count                (0 unless kKeepMatches)
//   per segment: u32 word count      (0 = no match), u64 words with one bit per document: the matches
#pragma once

#include <cstdint>

namespace gannet {

inline constexpr uint32_t kPlanMagic = 0x4e414c50;    // "PLAN"
inline constexpr uint32_t kResultMagic = 0x54534c52;  // "RLST"
inline constexpr uint32_t kHitsMax = 1u << 24;
inline constexpr uint32_t kGroupsMax = 4096;
inline constexpr uint32_t kAlternativesMax = 1024;
inline constexpr uint32_t kSequenceMax = 4096;
inline constexpr uint32_t kWholeMax = 64;
inline constexpr float kWholeFieldTermWeightMin = 0.85f;
inline constexpr uint32_t kFilterDepthMax = 64;
inline constexpr uint32_t kSortKeysMax = 8;
// Limits of a whole plan, which bound the memory that a parsed plan takes.
inline constexpr uint32_t kPlanTermsMax = 65536;
inline constexpr uint32_t kFilterNodesMax = 65536;
inline constexpr uint32_t kFilterValuesMax = 1u << 20;
inline constexpr uint32_t kFacetsMax = 256;
inline constexpr uint32_t kFacetWordsMax = 256;

enum PlanFlag : uint32_t {
  kNeedTotal = 1,       // total count must be exact (always set by the service; unset allows early exit)
  kExplain = 2,
  kStorageOrder = 4,    // no scores and no order: hits in record number order
  kKeepMatches = 8,     // the result has the set of all matches
};
enum class Occur : uint8_t { kShould = 0, kMust = 1, kMustNot = 2 };
// Origin of an alternative. Words, synonyms and longer words count for the group's idf. Typos count only if no document
// has any of those, so that a rare word stays rare although it resembles a frequent one.
enum class AlternativeKind : uint8_t { kWord = 0, kTypo = 1, kSynonym = 2, kCompound = 3 };
enum class FilterOp : uint8_t {
  kAll = 0, kAnd = 1, kOr = 2, kNot = 3, kEqual = 4, kNotEqual = 5, kLess = 6, kLessOrEqual = 7,
  kGreater = 8, kGreaterOrEqual = 9, kIn = 10, kIsNull = 11, kWithin = 12, kRecord = 13,
  kInBox = 14,
};
enum class SortBy : uint8_t { kScore = 0, kColumn = 1, kDistance = 2, kRecordNumber = 3 };

}  // namespace gannet
