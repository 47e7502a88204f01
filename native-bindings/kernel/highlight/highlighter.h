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

// Views: whoever makes these keeps the texts alive.
struct HighlightTerms {
  std::vector<std::string_view> terms;  // folded, as the analyzer gives them; one may occur several times
  // Sequences that count only where their terms are neighbours (phrases); their terms are not in `terms`.
  std::vector<std::vector<std::string_view>> phrases;
};

// Every alternative of a plan: typos, stems and synonyms are marked too. Words that must not occur are not.
HighlightTerms TermsOfPlan(const QueryPlan& plan);

inline constexpr uint32_t kHighlightCharactersMax = 200;

// The passage of `text` (at most `characters_max` code points with the ellipses, cut at word boundaries, "… " or " …"
// where something is left out) that holds most different matched words, HTML-escaped, with <em> around each matched
// word. Empty where nothing matches. U+200B put in by the caller's segmentation is left out.
std::string HighlightText(std::string_view text, const HighlightTerms& terms,
                          uint32_t characters_max = kHighlightCharactersMax);

// `fields_json` is the UTF-8 JSON object of a record's fields. Returns a JSON object of highlights for those of
// `field_names` that match (strings, and the best element of arrays of strings), or "{}". Never fails on damaged
// JSON: what cannot be read has no highlight.
std::string HighlightFields(std::string_view fields_json, const std::vector<std::string>& field_names,
                            const HighlightTerms& terms);

// The same for the many texts of one answer: the matcher (term_matcher.h) is made once.
class TermMatcher;
std::string HighlightText(std::string_view text, const TermMatcher& matcher,
                          uint32_t characters_max = kHighlightCharactersMax);

// And for the many records of one answer, appended to `out`.
void AppendHighlights(std::string_view fields_json, const std::vector<std::string>& field_names,
                      const TermMatcher& matcher, std::string* out);

// True where a text of one of the fields has a script without spaces and no U+200B: the caller has to segment the
// fields before HighlightFields can find their words.
bool FieldsNeedSegmentation(std::string_view fields_json, const std::vector<std::string>& field_names);

}  // namespace gannet
