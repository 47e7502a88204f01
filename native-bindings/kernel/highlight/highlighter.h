// Marks the matched words in the text of a record.
//
// Thread-safety: a function of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gannet {

struct QueryPlan;

// These are views: the maker must keep the texts alive.
struct HighlightTerms {
  std::vector<std::string_view> terms;  // folded, as the analyzer makes them; may have repeats
  // Phrases: sequences that count only if their terms are neighbours. Their terms are not in `terms`.
  std::vector<std::vector<std::string_view>> phrases;
};

// Returns every alternative of a plan, so that typos, stems and synonyms are marked too. Words that must not occur are
// left out.
HighlightTerms TermsOfPlan(const QueryPlan& plan);

inline constexpr uint32_t kHighlightCharactersMax = 200;

// Returns the passage of `text` that has most different matched words, HTML-escaped, with <em> around each matched
// word. It has at most `characters_max` code points, ellipses included, and is cut at word boundaries ("… " or " …"
// where text is left out). Empty if nothing matches. U+200B that the caller's segmentation inserted is left out.
std::string HighlightText(std::string_view text, const HighlightTerms& terms,
                          uint32_t characters_max = kHighlightCharactersMax);

// `fields_json` is the UTF-8 JSON object of a record's fields. Returns a JSON object of highlights for those of
// `field_names` that match (strings, and the best element of arrays of strings), or "{}". Never fails on damaged JSON:
// a value that cannot be read has no highlight.
std::string HighlightFields(std::string_view fields_json, const std::vector<std::string>& field_names,
                            const HighlightTerms& terms);

// The same for the many texts of one response: the matcher (term_matcher.h) is made only once.
class TermMatcher;
std::string HighlightText(std::string_view text, const TermMatcher& matcher,
                          uint32_t characters_max = kHighlightCharactersMax);

// The same for the many records of one response, appended to `out`.
void AppendHighlights(std::string_view fields_json, const std::vector<std::string>& field_names,
                      const TermMatcher& matcher, std::string* out);

// Returns true if a text of one of the fields has a script without spaces and no U+200B: the caller must then segment
// the fields before HighlightFields can find their words.
bool FieldsNeedSegmentation(std::string_view fields_json, const std::vector<std::string>& field_names);

}  // namespace gannet
