#include "part_source.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "../query/expected_score.h"
#include "passing_documents.h"
#include "reaching_documents.h"
#include "segment_matches.h"
#include "word_explainer.h"

namespace gannet {
namespace {

// The best documents, this many per wanted record, probably lead to at least as many records as are wanted.
constexpr size_t kDocumentsPerRecord = 8;

bool Contains(const std::vector<uint64_t>& bits, uint32_t document) { return bits[document / 64] >> (document % 64) & 1; }

}  // namespace

std::vector<uint32_t> FindPartDocuments(const Segment& segment, std::span<const uint32_t> records) {
  CheckPart(segment);
  const Column& column = segment.column(kPartRecordColumn);
  std::vector<uint32_t> documents;
  for (uint32_t document = 0; document < segment.document_count(); ++document) {
    if (std::ranges::binary_search(records, PartNumber(column, document))) documents.push_back(document);
  }
  return documents;
}

// The search in one segment of the part.
class PartSource::SegmentSearch {
 public:
  SegmentSearch(PartSource* source, uint32_t segment, BestRecords* best)
      : source_(*source),
        segment_(segment),
        part_(*source->part_.segments[segment].segment),
        runs_(source->homes_[segment]->Runs(part_)),
        best_(*best),
        found_(source->needs_.all_matches ? runs_.RunWords() : 0) {
    for (const Fields& fields : source_.fields_) homes_.push_back(source_.homes_[segment]->In(fields.view->segment, part_));
  }

  // `supposes`: assume that the wanted number of records reaches what kDocumentsPerRecord times as many documents do.
  void Run(bool supposes, EvaluatorScratch* scratch) {
    StopNowIfAsked();
    const PartNeeds& needs = source_.needs_;
    const bool scores = needs.wanted > 0 || source_.floor_ > 0;
    SegmentMatches matches(source_.query_, source_.plan_, segment_, {.scores = scores, .all_matches = needs.all_matches},
                           scratch, &source_.proximity_, scores ? &best_.bar() : nullptr);
    const auto mark = [&](const Window& window) { Mark(window); };
    const auto consume = [&](const Window& window, uint32_t) {
      if (needs.all_matches) Mark(window);
      if (needs.wanted > 0) Collect(window);
    };
    const auto count = [](uint32_t) {};
    const auto collect = [&](std::span<const ScoredDocument> scored) { Collect(scored); };
    switch (matches.ChooseWay(false, needs.wanted > 0, needs.all_matches)) {
      case Way::kDocuments:
        matches.ForEachDocument(count, collect);
        break;
      case Way::kSpans:
        if (needs.wanted > 0 && needs.wanted <= BestRecords::kTopMax) SeedBar(supposes, &matches);
        matches.ForEachSpan(needs.all_matches, consume, count, mark, collect);
        break;
      default:
        matches.ForEachWindow(consume);
    }
    if (needs.all_matches) FindRecords();
  }

 private:
  std::optional<RecordHome> HomeOf(uint32_t run) const {
    for (const uint32_t index : source_.by_size_) {
      const Fields& fields = source_.fields_[index];
      const uint32_t document = homes_[index] != nullptr ? (*homes_[index])[run]
                                                         : fields.view->segment->FindDocument(runs_.record(run)).value_or(kNoHome);
      if (document == kNoHome) continue;
      const DeletionSet& deletions = fields.view->deletions;
      if (deletions.deleted_count > 0 && deletions.Contains(document)) continue;
      // A record is live in at most one segment.
      if (!fields.passing.empty() && !Contains(fields.passing, document)) return std::nullopt;
      return RecordHome{index, document};
    }
    return std::nullopt;
  }

  // Seeds the bar with a score that enough records are known to reach or, if it supposes, with one that enough
  // documents reach to probably lead to enough records.
  void SeedBar(bool supposes, SegmentMatches* matches) {
    const size_t wanted = source_.needs_.wanted;
    const auto owner_of = [&](uint32_t document) -> std::optional<uint64_t> {
      const auto home = HomeOf(runs_.RunOf(document));
      return home ? std::optional(uint64_t{home->segment} << 32 | home->document) : std::nullopt;
    };
    const float reached = matches->SeedBar(wanted, owner_of);
    if (reached > 0) best_.SeedBar(reached);
    else if (supposes) best_.Suppose(matches->SeedBar(wanted * kDocumentsPerRecord));
  }

  void Mark(const Window& window) {
    source_.found_ += window.matches.Count();
    runs_.AddRunsWith(window, found_.data());
  }

  // Finds the records that the matching runs lead to, deleted or not.
  void FindRecords() {
    uint64_t count = 0;
    for (const uint64_t word : found_) count += PopCount(word);
    for (const uint32_t index : source_.by_size_) {
      Fields& fields = source_.fields_[index];
      if (homes_[index] != nullptr) {
        FindByHomes(*homes_[index], &fields.found);
      } else if (fields.view->segment->document_count() < count) {
        FindByRecords(&fields);
      } else {
        ForEachFound([&](uint32_t run) { AddFound(fields.view->segment->FindDocument(runs_.record(run)).value_or(kNoHome), &fields.found); });
      }
    }
  }

  template <typename Visit>
  void ForEachFound(Visit&& visit) const {
    for (uint32_t word = 0; word < found_.size(); ++word) {
      StopIfAskedAt(word + 1);
      ForEachBit(found_[word], word * 64, visit);
    }
  }

  static void AddFound(uint32_t document, std::vector<uint64_t>* found) {
    if (document != kNoHome) (*found)[document / 64] |= uint64_t{1} << document % 64;
  }

  // Records usually have the same order in both: then 64 runs lead to 64 consecutive documents.
  void FindByHomes(const HomesInSegment& homes, std::vector<uint64_t>* found) const {
    for (uint32_t begin = 0; begin < homes.size(); begin += HomesInSegment::kAtOnce) {
      StopIfAskedAt(begin / HomesInSegment::kAtOnce + 1);
      const uint64_t bits = found_[begin / HomesInSegment::kAtOnce];
      if (bits == 0) continue;
      if (!homes.IsStraight(begin)) {
        ForEachBit(bits, begin, [&](uint32_t run) { AddFound(homes[run], found); });
        continue;
      }
      const uint32_t first = homes[begin];
      (*found)[first / 64] |= bits << first % 64;
      if (first % 64 != 0) (*found)[first / 64 + 1] |= bits >> (64 - first % 64);
    }
  }

  void FindByRecords(Fields* fields) const {
    const Segment& segment = *fields->view->segment;
    for (uint32_t document = 0; document < segment.document_count(); ++document) {
      StopIfAskedAt(document + 1);
      const auto runs = runs_.Of(segment.record_numbers()[document]);
      if (std::ranges::any_of(runs, [&](uint32_t run) { return Contains(found_, run); })) AddFound(document, &fields->found);
    }
  }

  // The bar may rise meanwhile.
  void Collect(const Window& window) {
    ForEachReaching(window, segment_, best_.bar(), source_.proximity_,
                    [&](uint32_t document, float score, float bonus_bound) { Add(document, score, bonus_bound); });
  }

  void Collect(std::span<const ScoredDocument> scored) {
    for (const auto& [document, score, bonus_bound] : scored) Add(document, score, bonus_bound);
  }

  void Add(uint32_t document, float score, float bonus_bound) {
    if (!best_.MayEnter(score, bonus_bound)) return;
    const auto home = HomeOf(runs_.RunOf(document));
    if (!home) return;
    best_.Add({*home, score, segment_, document}, bonus_bound);
  }

  PartSource& source_;
  uint32_t segment_;
  const Segment& part_;
  const RecordRuns& runs_;
  BestRecords& best_;
  std::vector<uint64_t> found_;                               // one bit per run, if all matches are needed
  std::vector<std::shared_ptr<const HomesInSegment>> homes_;  // by segment of the fields; null: looked up one by one
};

PartSource::PartSource(ScoreKind kind, const Generation* records, const QueryPlan* of_records, const PartQuery& query,
                       const PartNeeds& needs, EvaluatorScratch* scratch, std::vector<PostingCursor>* cursors)
    : kind_(kind),
      records_(*records),
      part_(*query.part),
      plan_(*query.plan),
      needs_(needs),
      query_(PrepareQuery(part_, plan_)),
      full_(query.full > 0 ? query.full : ExpectedScore(query_)),
      floor_(query.floor * full_),
      proximity_(&query_, cursors),
      scorer_(&query_, &proximity_) {
  plan_.minimum_score = floor_;
  for (const SegmentView& view : part_.segments) {
    CheckPart(*view.segment);
    homes_.push_back(view.homes ? view.homes : std::make_shared<PartHomes>());
  }
  for (uint32_t segment = 0; segment < records_.segments.size(); ++segment) {
    fields_.push_back({segment, &records_.segments[segment]});
  }
  by_size_.resize(fields_.size());
  std::iota(by_size_.begin(), by_size_.end(), 0u);
  std::ranges::stable_sort(by_size_, std::ranges::greater{},
                           [&](uint32_t index) { return fields_[index].view->segment->document_count(); });
  if (!query_.has_scoring_groups) return;
  FindPassing(*of_records);
  const bool supposes = needs.wanted > 0 && needs.wanted <= BestRecords::kTopMax && floor_ <= 0;
  if (!supposes || !Search(true, scratch)) Search(false, scratch);
  if (needs.all_matches) RemoveWhatDoesNotPass();
  for (const BestDocument& each : best_) fields_[each.home.segment].listed.push_back({each.home.document, each.score});
}

PartSource::~PartSource() = default;

// Returns false if fewer records than supposed reach the score that many documents do, because these are pages of few
// records.
bool PartSource::Search(bool supposes, EvaluatorScratch* scratch) {
  found_ = 0;
  BestRecords best(needs_.wanted, &proximity_);
  for (uint32_t segment = 0; segment < part_.segments.size(); ++segment) {
    if (query_.MayMatch(segment)) SegmentSearch(this, segment, &best).Run(supposes, scratch);
  }
  best_ = best.Finish([&](const BestDocument& a, const BestDocument& b) { return ComesFirst(a, b); });
  evaluated_ += best.evaluated();
  return best.HasReached();
}

void PartSource::RemoveWhatDoesNotPass() {
  for (Fields& fields : fields_) {
    for (size_t word = 0; word < fields.passing.size(); ++word) fields.found[word] &= fields.passing[word];
    const DeletionSet& deletions = fields.view->deletions;
    for (size_t window = 0; deletions.deleted_count > 0 && window < deletions.chunks.size(); ++window) {
      const auto& chunk = deletions.chunks[window];
      for (uint32_t word = 0; chunk && word < kWindowWords; ++word) fields.found[window * kWindowWords + word] &= ~(*chunk)[word];
    }
  }
}

void PartSource::FindPassing(const QueryPlan& of_records) {
  const PassingDocuments passing(&records_, of_records);
  for (Fields& fields : fields_) {
    if (!passing.passes_all_that_live()) fields.passing = passing.In(fields.segment);
    if (needs_.all_matches) {
      const uint32_t documents = fields.view->segment->document_count();
      fields.found.resize((documents + kWindowSize - 1) / kWindowSize * size_t{kWindowWords});
    }
  }
}

class PartSource::OfSegment : public SegmentSource {
 public:
  OfSegment(const Fields* fields, bool all_matches) : fields_(*fields), all_matches_(all_matches), listed_(fields->listed) {}

  float Bound() const override { return listed_.Bound(); }

  uint32_t NextWindow(uint32_t from, float least) override {
    if (!all_matches_) return listed_.NextWindow(from, least);
    for (size_t word = size_t{from} * kWindowWords; word < fields_.found.size(); ++word) {
      if (fields_.found[word] != 0) return static_cast<uint32_t>(word / kWindowWords);
    }
    return std::numeric_limits<uint32_t>::max();
  }

  Window* Find(WindowRange range, float least) override { return listed_.Find(range, least); }

  void AddCounted(WindowRange range, WindowBits* counted) override {
    if (!all_matches_) return;
    const uint64_t* found = &fields_.found[range.base / 64];
    for (uint32_t word = 0; word < kWindowWords; ++word) {
      counted->words[word] |= found[word];
      counted->used |= uint64_t{found[word] != 0} << word;
    }
  }

 private:
  const Fields& fields_;
  bool all_matches_;
  ListedDocuments listed_;
};

std::unique_ptr<SegmentSource> PartSource::Open(uint32_t segment, bool all_matches) {
  return std::make_unique<OfSegment>(&fields_[segment], all_matches && !fields_[segment].found.empty());
}

float PartSource::Reached(size_t documents) const {
  if (documents == 0 || best_.size() < documents) return 0;
  std::vector<float> scores;
  for (const BestDocument& each : best_) scores.push_back(each.score);
  const auto last = scores.begin() + static_cast<std::ptrdiff_t>(documents - 1);
  std::ranges::nth_element(scores, last, std::ranges::greater{});
  return *last;
}

uint32_t PartSource::PlaceOf(const BestDocument& document) const {
  return PartNumber(part_.segments[document.segment].segment->column(kPartPlaceColumn), document.document);
}

// For a record that is not among the best of this part, the words are looked up in all documents that lead to it.
std::optional<BestDocument> PartSource::BestOf(uint32_t segment, uint32_t document) {
  const RecordHome home{segment, document};
  const auto known = std::ranges::lower_bound(best_, home, {}, &BestDocument::home);
  if (known != best_.end() && known->home == home) return *known;
  if (needs_.wanted == BestRecords::kAll || !query_.has_scoring_groups) return std::nullopt;
  const Fields& fields = fields_[segment];
  if (!fields.found.empty() && !Contains(fields.found, document)) return std::nullopt;
  std::optional<BestDocument> best;
  const uint32_t record = fields.view->segment->record_numbers()[document];
  for (uint32_t part = 0; part < part_.segments.size(); ++part) {
    if (!query_.MayMatch(part)) continue;
    const RecordRuns& runs = homes_[part]->Runs(*part_.segments[part].segment);
    for (const uint32_t run : runs.Of(record)) ScorePages(part, runs.begin(run), runs.end(run), &best);
  }
  if (best) best->home = home;
  return best;
}

// Scores the documents one window at a time.
void PartSource::ScorePages(uint32_t segment, uint32_t begin, uint32_t end, std::optional<BestDocument>* best) {
  const SegmentView& view = part_.segments[segment];
  const ColumnFilter filter(plan_.filter, *view.segment);
  while (begin < end) {
    StopIfAsked();
    const uint32_t base = begin / kWindowSize * kWindowSize;
    const uint32_t until = std::min(end, base + kWindowSize);
    const std::vector<float>& scores = scorer_.Score(segment, begin, until);
    Window passing;
    passing.range = {base, until};
    for (uint32_t page = begin; page < until; ++page) {
      const bool counts = scores[page - begin] > 0 && scores[page - begin] >= floor_ && !view.deletions.Contains(page);
      if (counts) passing.matches.Add(page - base);
    }
    filter.Apply(&passing);
    ForEachBit(passing.matches, [&](uint32_t offset) {
      const BestDocument page{{}, scores[base + offset - begin], segment, base + offset};
      const bool is_better = !*best || page.score > (*best)->score || (page.score == (*best)->score && ComesFirst(page, **best));
      if (is_better) *best = page;
    });
    begin = until;
  }
}

SourceScore PartSource::ScoreOf(uint32_t segment, uint32_t document) {
  const auto best = BestOf(segment, document);
  return best ? SourceScore{best->score, PlaceOf(*best)} : SourceScore{};
}

void PartSource::Explain(uint32_t segment, uint32_t document, std::string* out) {
  const auto best = BestOf(segment, document);
  if (!best) return;
  ExplainWords(query_, {best->segment, best->document}, &proximity_, out);
  if (needs_.all_matches) {
    out->append(",\"found\":");
    AppendJsonNumber(static_cast<double>(found_), out);
  }
  out->append(",\"evaluated\":");
  AppendJsonNumber(static_cast<double>(evaluated_), out);
}

}  // namespace gannet
