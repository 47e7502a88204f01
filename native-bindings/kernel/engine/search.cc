#include "search.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../collect/facet_counter.h"
#include "../collect/hit_collector.h"
#include "../common/error.h"
#include "../common/stop.h"
#include "../generation/narrowed_generation.h"
#include "../query/query_plan.h"
#include "../query/expected_score.h"
#include "../segment/narrowed_segment.h"
#include "../sources/combined_matches.h"
#include "../sources/segment_matches.h"
#include "../sources/strongest_matches.h"
#include "../sources/window_removals.h"
#include "../sources/word_source.h"
#include "explain.h"
#include "late_scorer.h"
#include "result_writer.h"
#include "threshold_search.h"
#include "thread_scratch.h"

namespace gannet {
namespace {

class Searcher {
 public:
  Searcher(const Generation& generation, const QueryPlan& plan, const OtherSources& others, ThreadScratch* scratch)
      : generation_(generation),
        plan_(plan),
        scratch_(scratch),
        has_sources_(!others.shares.empty() || !others.parts.empty()),
        query_(PrepareQuery(generation, plan, plan.size > 0 || plan.minimum_score > 0 || has_sources_)),
        proximity_(&query_, &scratch->proximity),
        words_(&query_, &proximity_, &scratch->matching),
        parts_(others.parts),
        text_floor_(others.text_floor),
        late_scorer_(&query_, &proximity_, &words_, &scratch->scoring),
        collector_(generation, plan, has_sources_ ? nullptr : &proximity_,
                   [this](std::span<Hit* const> hits) { late_scorer_.Score(hits); }) {
    if (scratch->facets.size() < plan.facets.size()) scratch->facets.resize(plan.facets.size());
    for (size_t i = 0; i < plan.facets.size(); ++i) {
      facets_.emplace_back(generation, plan.facets[i], plan.facet_words, &scratch->facets[i]);
    }
    needs_.scores = collector_.needs_every_score() || plan.minimum_score > 0;
    if (has_sources_) {
      const float full = others.words_full > 0 ? others.words_full : ExpectedScore(query_);
      shares_.push_back({&words_, others.words_weight, others.words_floor, true, full});
      shares_.insert(shares_.end(), others.shares.begin(), others.shares.end());
    }
    keeps_matches_ = (plan.flags & kKeepMatches) != 0;
    needs_.all_matches = (plan.flags & kNeedTotal) != 0 || visits_matches();
  }

  SearchResult Run() {
    const bool by_threshold = parts_.empty() && !visits_matches() && !plan_.is_distinct && collector_.is_by_score() &&
                              plan_.minimum_score <= 0 && ThresholdSearch::IsFor(query_, shares_);
    if (has_sources_) known_ = KnownMatches(generation_, shares_, by_threshold ? collector_.wanted() : 0);
    // The known documents may include excluded ones.
    if (Excludes()) known_.certain = 0;
    SeedBar();
    ThresholdSearch threshold(&query_, &plan_, shares_, &known_, &scratch_->matching, &proximity_);
    for (uint32_t segment = 0; segment < generation_.segments.size(); ++segment) {
      const uint32_t documents = generation_.segments[segment].segment->document_count();
      // Matches below the minimum score are not counted, so it is enough to find those that reach it.
      const bool all_matches = needs_.all_matches && plan_.minimum_score <= 0;
      if (!has_sources_) {
        SearchSegment(segment);
      } else if (by_threshold) {
        collector_.BeginSegment(segment);
        total_ += threshold.Search(segment, needs_, &collector_);
      } else if (parts_.empty()) {
        SearchSources(segment, CombinedMatches(segment, documents, shares_, known_, all_matches));
      } else {
        SearchSources(segment, StrongestMatches(segment, documents, shares_, known_, text_floor_, parts_, all_matches));
      }
    }
    SearchResult result;
    result.total_count = total_;
    result.hits = collector_.Finish();
    result.matches = std::move(matches_);
    if (!facets_.empty()) WriteFacets(&result);
    WriteScores(&result);
    if (plan_.flags & kExplain) result.explain = ExplainHits(query_, result.hits, AllShares(), ScoresOfShares(result));
    return result;
  }

 private:
  // True if something is made of all matches.
  bool visits_matches() const { return keeps_matches_ || !facets_.empty(); }

  void VisitMatches(uint32_t segment, const Window& window) {
    total_ += window.matches.Count();
    for (FacetCounter& facet : facets_) facet.Count(window);
    if (keeps_matches_) matches_.Add(generation_, segment, window);
  }

  void SearchSegment(uint32_t segment) {
    StopNowIfAsked();
    if (!query_.MayMatch(segment)) return;
    collector_.BeginSegment(segment);
    for (FacetCounter& facet : facets_) facet.BeginSegment(segment);
    const auto count_window = [&](const Window& window) { VisitMatches(segment, window); };
    const auto consume = [&](const Window& window, uint32_t) {
      count_window(window);
      collector_.Collect(window, needs_.scores ? window.scores : nullptr);
    };
    SegmentMatches matches(query_, plan_, segment, needs_, &scratch_->matching, &proximity_, &collector_.bar());
    const auto count = [&](uint32_t more) { total_ += more; };
    const auto collect = [&](std::span<const ScoredDocument> scored) { collector_.CollectScored(scored); };
    const bool visits = visits_matches();
    switch (matches.ChooseWay(!collector_.wants_hits() && !visits, collector_.is_by_score(), visits)) {
      case Way::kCount:
        total_ += matches.Count();
        break;
      case Way::kDocuments:
        matches.ForEachDocument(count, collect);
        break;
      case Way::kSpans:
        collector_.SeedBar(matches.SeedBar(collector_.wanted()));
        matches.ForEachSpan(visits, consume, count, count_window, collect);
        break;
      case Way::kWindows:
        matches.ForEachWindow(consume);
        break;
    }
    for (FacetCounter& facet : facets_) facet.EndSegment();
  }

  // The same for searches with other sources.
  template <typename Matches>
  void SearchSources(uint32_t segment, Matches matches) {
    StopNowIfAsked();
    collector_.BeginSegment(segment);
    for (FacetCounter& facet : facets_) facet.BeginSegment(segment);
    const SegmentView& view = generation_.segments[segment];
    const ColumnFilter filter(plan_.filter, *view.segment, FilterUse::kAgain);
    const float minimum = plan_.minimum_score;
    const auto bar = [&] {
      return minimum > 0 && needs_.all_matches ? minimum : std::max(minimum, collector_.bar());
    };
    for (uint32_t index = matches.NextWindow(0, bar()); index < matches.window_count();
         index = matches.NextWindow(index + 1, bar())) {
      StopIfAsked();
      Window* window = matches.Evaluate(index, bar());
      RemoveDeletedFrom(window, view.deletions);
      if (minimum > 0) RemoveBelow(minimum, window);
      filter.Apply(window);
      if (!window->matches.Any()) continue;
      VisitMatches(segment, *window);
      matches.KeepScored(window);
      collector_.Collect(*window, window->scores);
    }
    for (FacetCounter& facet : facets_) facet.EndSegment();
  }

  bool Excludes() const {
    return std::ranges::any_of(query_.groups, [](const PreparedGroup& group) { return !group.scores(); });
  }

  // Seeds the bar with what the parts have found already and, if nothing is excluded, with the known scores of the
  // text.
  void SeedBar() {
    if (!collector_.is_by_score()) return;
    const float reached = Excludes() ? 0 : known_.Reached(collector_.wanted());
    if (reached >= text_floor_) collector_.SeedBar(reached);
    for (const SourceShare& part : parts_) collector_.SeedBar(part.Counted(part.source->Reached(collector_.wanted())));
  }

  std::vector<SourceShare> AllShares() const {
    std::vector<SourceShare> shares = shares_;
    shares.insert(shares.end(), parts_.begin(), parts_.end());
    return shares;
  }

  // Returns, for each hit, one score for each of AllShares: leaves out the text's sum, which stands between them.
  std::vector<SourceScore> ScoresOfShares(const SearchResult& result) const {
    std::vector<SourceScore> scores;
    const size_t row = result.kinds.size();
    for (size_t i = 0; i < result.scores.size(); ++i) {
      if (parts_.empty() || i % row != shares_.size()) scores.push_back(result.scores[i]);
    }
    return scores;
  }

  void WriteScores(SearchResult* result) const {
    for (const SourceShare& share : shares_) result->kinds.push_back(share.source->kind());
    if (!parts_.empty()) result->kinds.push_back(ScoreKind::kText);
    for (const SourceShare& share : parts_) result->kinds.push_back(share.source->kind());
    const std::vector<float> words = WordsOf(result->hits);
    for (size_t i = 0; i < result->hits.size(); ++i) WriteScores(result->hits[i], words.empty() ? 0 : words[i], &result->scores);
  }

  // Returns the scores of hits by words, computed for all hits of a segment at once; empty if only words are searched.
  std::vector<float> WordsOf(std::span<const Hit> hits) const {
    if (shares_.empty()) return {};
    std::vector<float> words(hits.size());
    std::vector<uint32_t> sought;
    for (uint32_t i = 0; i < hits.size(); ++i) {
      const KnownDocument* known = known_.Find(hits[i].segment, hits[i].document);
      if (known != nullptr) words[i] = known->by_first; else sought.push_back(i);
    }
    std::ranges::sort(sought, {}, [&](uint32_t i) { return std::pair(hits[i].segment, hits[i].document); });
    std::vector<uint32_t> documents;
    for (size_t begin = 0, end = 0; begin < sought.size(); begin = end) {
      const uint32_t segment = hits[sought[begin]].segment;
      documents.clear();
      for (; end < sought.size() && hits[sought[end]].segment == segment; ++end) documents.push_back(hits[sought[end]].document);
      std::vector<float> scores(documents.size());
      shares_.front().source->ScoresOf(segment, documents, scores.data());
      for (size_t i = begin; i < end; ++i) words[sought[i]] = scores[i - begin];
    }
    return words;
  }

  void WriteScores(const Hit& hit, float words, std::vector<SourceScore>* scores) const {
    float text = 0;
    for (const SourceShare& share : shares_) {
      const bool is_words = &share == &shares_.front();
      const ScoreLimit limit = known_.LimitOf(text, share);
      const SourceScore score = is_words ? SourceScore{words} : share.source->LimitedScoreOf(hit.segment, hit.document, limit);
      if (score.score >= share.floor) text += share.Counted(score.score);
      scores->push_back(share.Told(score));
    }
    if (parts_.empty()) return;
    scores->push_back({text < text_floor_ ? 0 : std::min(1.0f, text)});
    for (const SourceShare& share : parts_) scores->push_back(share.ScoreOf(hit.segment, hit.document));
  }

  void WriteFacets(SearchResult* result) {
    result->facets.push_back('{');
    result->ranges.push_back('{');
    for (FacetCounter& facet : facets_) facet.AppendJson(&result->facets, &result->ranges);
    result->facets.push_back('}');
    result->ranges.push_back('}');
    if (result->ranges.size() == 2) result->ranges.clear();
  }

  const Generation& generation_;
  const QueryPlan& plan_;
  ThreadScratch* scratch_;
  bool has_sources_;
  PreparedQuery query_;
  ProximityScorer proximity_;
  WordSource words_;
  std::vector<SourceShare> shares_;  // empty if only words are searched
  std::span<const SourceShare> parts_;
  float text_floor_;
  KnownMatches known_;
  LateScorer late_scorer_;
  HitCollector collector_;
  std::vector<FacetCounter> facets_;
  bool keeps_matches_ = false;
  KeptMatches matches_;
  EvaluationNeeds needs_;
  uint64_t total_ = 0;
};

float CheckedShare(float value, const char* what) {
  if (value >= 0 && value <= 1) return value;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + " is in 0..1");
}

// What is kept for a request of a part while it is answered.
class SearchedPart {
 public:
  // `index` is the index of the part in the search.
  SearchedPart(const Generation& records, const QueryPlan& plan, const PartRequest& request, size_t index, ThreadScratch* scratch)
      : plan_(ParsePlan(request.plan)),
        source_(request.kind, &records, &plan,
                {request.part.get(), &plan_, CheckedShare(request.floor, "the floor of a part"),
                 CheckedShare(request.full, "the full score of a part")},
                NeedsOf(plan), &scratch->matching, CursorsOf(index, scratch)) {}

  SourceShare share() { return source_.share(); }

 private:
  static std::vector<PostingCursor>* CursorsOf(size_t index, ThreadScratch* scratch) {
    if (scratch->proximity_in_parts.size() <= index) scratch->proximity_in_parts.resize(index + 1);
    return &scratch->proximity_in_parts[index];
  }

  // If scores only break ties, or are reported for hits that were not chosen by them, they are needed for all records.
  static PartNeeds NeedsOf(const QueryPlan& plan) {
    PartNeeds needs;
    needs.all_matches = (plan.flags & (kNeedTotal | kKeepMatches)) != 0 || !plan.facets.empty();
    // The best so many records may share values.
    const bool by_score =
        plan.sort_keys.empty() && (plan.flags & kStorageOrder) == 0 && plan.minimum_score <= 0 && !plan.is_distinct;
    if (by_score) needs.wanted = plan.size == 0 ? 0 : size_t{plan.skip} + plan.size;
    return needs;
  }

  QueryPlan plan_;
  PartSource source_;
};

// The generation whose words are searched: only the text fields that the plan names. Other sources search all of it.
class SearchedFields {
 public:
  SearchedFields(const Generation& generation, const QueryPlan& plan)
      : whole_(generation), narrowed_(IsNarrow(plan) ? NarrowGeneration(generation, plan.text_fields) : nullptr) {}

  const Generation& generation() const { return narrowed_ ? *narrowed_ : whole_; }

 private:
  static bool IsNarrow(const QueryPlan& plan) { return !plan.text_fields.empty() && !plan.groups.empty(); }

  const ListsOfSearch lists_;
  const Generation& whole_;
  std::shared_ptr<const Generation> narrowed_;
};

std::vector<uint8_t> SearchPlan(const Generation& generation, const QueryPlan& plan, const OtherSources& others,
                                ScratchLease* scratch) {
  const SearchedFields fields(generation, plan);
  const SearchResult result = Searcher(fields.generation(), plan, others, &**scratch).Run();
  scratch->Return();
  return WriteResult(generation, plan, result);
}

}  // namespace

std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> bytes, const OtherSources& others) {
  ScratchLease scratch;
  return SearchPlan(generation, ParsePlan(bytes), others, &scratch);
}

std::vector<uint8_t> SearchBesideWords(const Generation& generation, std::span<const uint8_t> bytes, BesideWords beside) {
  const QueryPlan plan = ParsePlan(bytes);
  OtherSources others;
  others.text_floor = CheckedShare(beside.text_floor, "the floor of the text");
  ScratchLease scratch;
  std::optional<MeaningSource> meaning;
  if (beside.meaning) {
    const float weight = beside.meaning->weight;
    const bool adds_matches = beside.meaning->adds_matches;
    others.words_weight = 1 - weight;
    others.words_full = beside.meaning->words_full;
    meaning.emplace(&generation, &plan.filter, std::move(*beside.meaning), &(*scratch).vectors);
    others.shares.push_back({&*meaning, weight, 0, adds_matches});
  }
  std::deque<SearchedPart> parts;
  for (const PartRequest& request : beside.parts) {
    others.parts.push_back(parts.emplace_back(generation, plan, request, parts.size(), &*scratch).share());
  }
  std::optional<PictureSource> pictures;
  if (beside.pictures) {
    pictures.emplace(&generation, beside.pictures->pictures.get(), &plan.filter, std::move(beside.pictures->near), &(*scratch).vectors);
    others.parts.push_back({&*pictures});
  }
  return SearchPlan(generation, plan, others, &scratch);
}

std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> bytes) {
  const QueryPlan plan = ParsePlan(bytes);
  const SearchedFields fields(generation, plan);
  const PreparedQuery query = PrepareQuery(fields.generation(), plan);
  ScratchLease scratch;
  ProximityScorer proximity(&query, &(*scratch).proximity);
  std::vector<uint32_t> numbers;
  for (uint32_t segment = 0; segment < generation.segments.size(); ++segment) {
    StopNowIfAsked();
    if (!query.MayMatch(segment)) continue;
    const uint32_t* record_numbers = generation.segments[segment].segment->record_numbers().data();
    const auto consume = [&](const Window& window, uint32_t) {
      ForEachBit(window.matches,
                 [&](uint32_t offset) { numbers.push_back(record_numbers[window.range.base + offset]); });
    };
    SegmentMatches(query, plan, segment, {.scores = plan.minimum_score > 0}, &(*scratch).matching, &proximity, nullptr)
        .ForEachWindow(consume);
  }
  scratch.Return();
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gannet
