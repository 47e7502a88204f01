#include "explain.h"

#include <algorithm>

#include "../bonus/proximity_scorer.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../sources/word_explainer.h"

namespace gannet {
namespace {

void AppendMember(const char* name, double value, std::string* out) {
  out->append(name);
  AppendJsonNumber(value, out);
}

void AppendSource(const SourceShare& share, const Hit& hit, const SourceScore& score, std::string* out) {
  if (score.score <= 0) return;
  if (out->back() == '}') out->push_back(',');
  out->append("{\"kind\":");
  AppendJsonString(NameOf(share.source->kind()), out);
  AppendMember(",\"score\":", double{score.score}, out);
  AppendMember(",\"weight\":", double{share.weight}, out);
  if (share.full != 1) AppendMember(",\"full\":", double{share.full}, out);
  if (score.place != kNoPlace) AppendMember(",\"place\":", score.place, out);
  share.source->Explain(hit.segment, hit.document, out);
  out->push_back('}');
}

}  // namespace

std::string ExplainHits(const PreparedQuery& query, const std::vector<Hit>& hits, std::span<const SourceShare> shares,
                        std::span<const SourceScore> scores) {
  std::vector<PostingCursor> cursors;
  ProximityScorer proximity(&query, &cursors);
  std::string out = "[";
  auto score_of_share = scores.begin();
  for (const Hit& hit : hits) {
    StopIfAsked();
    if (out.size() > 1) out.push_back(',');
    std::string members;
    const float score = ExplainWords(query, {hit.segment, hit.document}, &proximity, &members);
    if (!shares.empty()) {
      members.append(",\"sources\":[");
      for (const SourceShare& share : shares) AppendSource(share, hit, *score_of_share++, &members);
      members.push_back(']');
    }
    const float whole = shares.empty() ? (query.has_scoring_groups ? score : 1.0f) : hit.score;
    AppendMember("{\"score\":", double{std::min(whole, 1.0f)}, &out);
    out.append(members);
    out.push_back('}');
  }
  out.push_back(']');
  return out;
}

}  // namespace gannet
