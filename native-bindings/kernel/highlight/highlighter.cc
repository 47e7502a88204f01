#include "highlighter.h"

#include <algorithm>

#include "../analysis/analyzer.h"
#include "../common/json_writer.h"
#include "../query/query_plan.h"
#include "json_scanner.h"
#include "passage.h"
#include "term_matcher.h"

namespace gannet {
namespace {

constexpr std::string_view kZeroWidthSpace = "\xe2\x80\x8b";

// Keeps the best passage offered so far.
class BestPassage {
 public:
  void Offer(std::string_view text, const TermMatcher& matcher, uint32_t characters_max) {
    const std::vector<WordMatch> matches = matcher.Find(text);
    if (matches.empty()) return;
    const Passage passage = ChoosePassage(text, matches, characters_max);
    if (passage.distinct < distinct_ || (passage.distinct == distinct_ && passage.matches <= matches_)) return;
    distinct_ = passage.distinct;
    matches_ = passage.matches;
    html_ = MarkPassage(text, matches, passage);
  }
  std::string& html() { return html_; }

 private:
  std::string html_;
  uint32_t distinct_ = 0;
  uint32_t matches_ = 0;
};

// Calls visit(index in field_names, text) for each string in those fields, and begin(index) before the strings of a
// field.
template <typename Begin, typename Visit>
void VisitFieldTexts(std::string_view fields_json, const std::vector<std::string>& field_names, Begin begin,
                     Visit visit) {
  JsonScanner scanner(fields_json);
  std::string scratch;
  std::string_view text;
  if (!scanner.Take('{')) return;
  while (scanner.Peek() == '"') {
    if (!scanner.ReadString(&scratch, &text)) return;
    const auto name = std::find(field_names.begin(), field_names.end(), text);
    if (!scanner.Take(':')) return;
    if (name == field_names.end()) {
      if (!scanner.SkipValue()) return;
    } else {
      const auto index = static_cast<size_t>(name - field_names.begin());
      begin(index);
      if (scanner.Peek() == '"') {
        if (!scanner.ReadString(&scratch, &text)) return;
        visit(index, text);
      } else if (scanner.Take('[')) {
        while (scanner.Peek() != ']') {
          if (scanner.Peek() == '"') {
            if (!scanner.ReadString(&scratch, &text)) return;
            visit(index, text);
          } else if (!scanner.SkipValue()) {
            return;
          }
          if (!scanner.Take(',')) break;
        }
        if (!scanner.Take(']')) return;
      } else if (!scanner.SkipValue()) {
        return;
      }
    }
    if (!scanner.Take(',')) return;
  }
}

}  // namespace

HighlightTerms TermsOfPlan(const QueryPlan& plan) {
  HighlightTerms result;
  for (const PlanGroup& group : plan.groups) {
    if (group.occur == Occur::kMustNot) continue;
    for (const PlanAlternative& alternative : group.alternatives) {
      if (alternative.terms.size() == 1) {
        result.terms.push_back(alternative.terms.front());
      } else {
        result.phrases.emplace_back(alternative.terms.begin(), alternative.terms.end());
      }
    }
  }
  return result;
}

std::string HighlightText(std::string_view text, const HighlightTerms& terms, uint32_t characters_max) {
  return HighlightText(text, TermMatcher(terms), characters_max);
}

std::string HighlightText(std::string_view text, const TermMatcher& matcher, uint32_t characters_max) {
  BestPassage best;
  best.Offer(text, matcher, characters_max);
  return std::move(best.html());
}

std::string HighlightFields(std::string_view fields_json, const std::vector<std::string>& field_names,
                            const HighlightTerms& terms) {
  std::string result;
  AppendHighlights(fields_json, field_names, TermMatcher(terms), &result);
  return result;
}

void AppendHighlights(std::string_view fields_json, const std::vector<std::string>& field_names,
                      const TermMatcher& matcher, std::string* out) {
  std::vector<BestPassage> best(field_names.size());
  VisitFieldTexts(
      fields_json, field_names, [&](size_t field) { best[field] = {}; },
      [&](size_t field, std::string_view text) { best[field].Offer(text, matcher, kHighlightCharactersMax); });
  out->push_back('{');
  bool is_first = true;
  for (size_t field = 0; field < best.size(); ++field) {
    if (best[field].html().empty()) continue;
    if (!is_first) out->push_back(',');
    is_first = false;
    AppendJsonString(field_names[field], out);
    out->push_back(':');
    AppendJsonString(best[field].html(), out);
  }
  out->push_back('}');
}

bool FieldsNeedSegmentation(std::string_view fields_json, const std::vector<std::string>& field_names) {
  // Escapes may hide any character; if there are none, one scan of the bytes decides for most records.
  const bool has_escapes = fields_json.find("\\u") != std::string_view::npos;
  if (!has_escapes && !NeedsDictionarySegmentation(fields_json)) return false;
  bool needs = false;
  VisitFieldTexts(
      fields_json, field_names, [](size_t) {},
      [&needs](size_t, std::string_view text) {
        needs = needs ||
                (text.find(kZeroWidthSpace) == std::string_view::npos && NeedsDictionarySegmentation(text));
      });
  return needs;
}

}  // namespace gannet
