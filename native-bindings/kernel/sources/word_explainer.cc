#include "word_explainer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../common/json_writer.h"
#include "../cursors/phrase_matcher.h"
#include "../window/contributions.h"

namespace gannet {
namespace {

void AppendMember(const char* name, double value, std::string* out) {
  out->append(name);
  AppendJsonNumber(value, out);
}

class WordExplainer {
 public:
  WordExplainer(const PreparedQuery& query, DocumentOfSegment hit, ProximityScorer* proximity)
      : query_(query), hit_(hit), proximity_(*proximity) {}

  float Append(std::string* out) {
    float score = 0;  // Added in the order of scoring, as in the evaluator.
    std::vector<std::pair<uint32_t, std::string>> groups;
    for (const PreparedGroup& group : query_.groups) {
      if (!group.scores()) continue;
      std::string text;
      const float contribution = AppendGroup(group, &text);
      if (contribution == 0 && group.occur == Occur::kMust) return AppendNothing(out);
      score += contribution;
      if (contribution > 0) groups.emplace_back(group.plan_index, std::move(text));
    }
    std::string nearby;
    const float whole = proximity_.WholeFieldBonus(hit_.segment, hit_.document);
    score += AppendPairs(whole, &nearby);
    std::sort(groups.begin(), groups.end());
    AppendMember(",\"maximum\":", query_.maximum, out);
    out->append(",\"groups\":[");
    for (const auto& [plan_index, text] : groups) {
      if (out->back() == '}') out->push_back(',');
      out->append(text);
    }
    out->push_back(']');
    if (!nearby.empty()) out->append(",\"nearby\":[" + nearby + "]");
    if (whole > 0) {
      AppendMember(",\"whole_field\":{\"contribution\":", double{whole}, out);
      out->push_back('}');
    }
    return score;
  }

 private:
  // Used if the words do not find the document, although some of them may match.
  float AppendNothing(std::string* out) const {
    AppendMember(",\"maximum\":", query_.maximum, out);
    out->append(",\"groups\":[]");
    return 0;
  }

  // Returns the whole bonus, added up as the scorer does.
  float AppendPairs(float whole, std::string* out) {
    float bonus = whole;
    for (const PreparedPair& pair : query_.pairs) {
      const float contribution = proximity_.PairBonus(hit_.segment, hit_.document, pair);
      bonus += contribution;
      if (contribution == 0) continue;
      const PreparedGroup& first = query_.groups[pair.first];
      const PreparedGroup& second = query_.groups[pair.second];
      out->append(out->empty() ? "{\"terms\":[" : ",{\"terms\":[");
      AppendJsonString(TextOf(first.alternatives[0]), out);
      out->push_back(',');
      AppendJsonString(TextOf(second.alternatives[0]), out);
      AppendMember("],\"idf\":", (first.idf + second.idf) / 2, out);
      AppendMember(",\"contribution\":", double{contribution}, out);
      out->push_back('}');
    }
    return bonus;
  }

  float AppendGroup(const PreparedGroup& group, std::string* out) const {
    std::string terms;
    std::vector<uint32_t> frequencies;
    for (const PreparedAlternative& alternative : group.alternatives) {
      frequencies.push_back(Frequency(alternative));
      if (!alternative.is_joined) AppendTerm(alternative, frequencies.back(), &terms);
    }
    for (const PreparedAlternative& longer : group.longer) AppendTerm(longer, Frequency(longer), &terms);
    float sum = 0;
    for (const uint32_t index : group.summing_order) {
      sum += group.alternatives[index].weight * FrequencyToFloat(frequencies[index]);
    }
    if (sum == 0) return 0;
    const uint8_t norm = query_.generation->segments[hit_.segment].segment->norms()[hit_.document];
    const float contribution = Contribution(sum, query_.saturation[norm], group.weight);
    AppendMember("{\"idf\":", group.idf, out);
    AppendMember(",\"boost\":", double{group.boost}, out);
    AppendMember(",\"contribution\":", double{contribution}, out);
    out->append(",\"terms\":[" + terms + "]}");
    return contribution;
  }

  void AppendTerm(const PreparedAlternative& alternative, uint32_t frequency, std::string* out) const {
    if (frequency == 0) return;
    out->append(out->empty() ? "{\"term\":" : ",{\"term\":");
    AppendJsonString(TextOf(alternative), out);
    AppendMember(",\"weight\":", double{alternative.weight}, out);
    AppendMember(",\"frequency\":", frequency, out);
    AppendMember(",\"document_frequency\":", static_cast<double>(alternative.document_frequency), out);
    out->push_back('}');
  }

  uint32_t Frequency(const PreparedAlternative& alternative) const {
    std::vector<uint32_t> distinct;
    std::vector<uint32_t> slots;
    for (const uint32_t term : alternative.terms) {
      const auto found = std::find(distinct.begin(), distinct.end(), term);
      slots.push_back(static_cast<uint32_t>(found - distinct.begin()));
      if (found == distinct.end()) distinct.push_back(term);
    }
    std::vector<PostingCursor> cursors(distinct.size());
    for (size_t i = 0; i < distinct.size(); ++i) {
      const PostingList& list = query_.terms[distinct[i]].lists[hit_.segment];
      if (list.document_frequency() == 0) return 0;
      cursors[i].Reset(&list);
    }
    if (!alternative.is_phrase()) return cursors[0].Seek(hit_.document) ? cursors[0].Frequency() : 0;
    const Segment* segment = query_.generation->segments[hit_.segment].segment.get();
    return PhraseMatcher(segment, slots, cursors).Frequency(hit_.document, false);
  }

  std::string TextOf(const PreparedAlternative& alternative) const {
    std::string text;
    for (const uint32_t term : alternative.terms) {
      if (!text.empty()) text.push_back(' ');
      text.append(query_.terms[term].text);
    }
    return text;
  }

  const PreparedQuery& query_;
  DocumentOfSegment hit_;
  ProximityScorer& proximity_;
};

}  // namespace

float ExplainWords(const PreparedQuery& query, DocumentOfSegment document, ProximityScorer* proximity, std::string* members) {
  return WordExplainer(query, document, proximity).Append(members);
}

}  // namespace gannet
