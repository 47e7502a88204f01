#include "meaning_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "filter_name.h"
#include "live_ordinals.h"

namespace gannet {
namespace {

// Vectors that are asked for beside those that are wanted, where some may lead to no live record.
constexpr uint32_t kMoreShare = 8;
constexpr uint32_t kMoreMin = 8;

[[noreturn]] void Invalid(const char* what) { throw Error(ErrorCode::kInvalidArgument, what); }

void Check(const MeaningRequest& request) {
  const auto is_share = [](float value) { return value >= 0 && value <= 1; };
  if (!(request.weight > 0) || !is_share(request.weight)) Invalid("meaning: a weight is above 0 and at most 1");
  if (!is_share(request.floor)) Invalid("meaning: a floor is in 0..1");
  if (!is_share(request.words_full)) Invalid("meaning: words' full score is in 0..1");
  if (!(request.farthest >= -1 && request.farthest < request.nearest && request.nearest <= 1)) {
    Invalid("meaning: cosines are in -1..1, the farthest below the nearest");
  }
  if (request.wanted == 0 || request.wanted > kMeaningWantedMax) Invalid("meaning: wanted is in 1..10,000");
  if (request.width == 0 || request.width > kMeaningWidthMax) Invalid("meaning: width is in 1..20,000");
}

}  // namespace

// What was found in a segment of words, and the vectors of what was not.
class MeaningSource::OfSegment : public SegmentSource {
 public:
  OfSegment(const MeaningSource* source, uint32_t segment)
      : source_(*source),
        listed_(source->listed_[segment]),
        records_(source->generation_.segments[segment].segment->record_numbers()) {}

  float Bound() const override { return source_.ScoreOfCosine(1); }
  uint32_t NextWindow(uint32_t from, float least) override { return listed_.NextWindow(from, least); }
  Window* Find(WindowRange range, float least) override { return listed_.Find(range, least); }
  Window* FindAmong(WindowRange range, const WindowBits& documents, float) override {
    among_.range = range;
    among_.matches.Clear();
    Complete(range, documents, &among_);
    return &among_;
  }
  bool CompletesOthers() const override { return true; }
  void Complete(WindowRange range, const WindowBits& documents, Window* found) override {
    ForEachBit(documents, [&](uint32_t offset) {
      StopIfAsked();
      const float score = source_.ScoreOfCosine(source_.BestOf(records_[range.base + offset]).cosine);
      if (score <= 0) return;
      found->matches.Add(offset);
      found->scores[offset] = score;
    });
  }

 private:
  const MeaningSource& source_;
  ListedDocuments listed_;
  std::span<const uint32_t> records_;
  Window among_;
};

MeaningSource::MeaningSource(const Generation* generation, const FilterNode* filter, MeaningRequest request)
    : generation_(*generation), request_(std::move(request)), listed_(generation->segments.size()) {
  Check(request_);
  if (!vectors::Normalize(request_.vector)) Invalid("meaning: a vector has a length above zero and finite components");
  std::vector<Found> found;
  for (uint32_t i = 0; i < generation_.vectors.size(); ++i) {
    if (generation_.vectors[i].segment->graph().dimensions() != request_.vector.size()) {
      Invalid("meaning: the vector has another number of dimensions than those of the list");
    }
    costs_.emplace_back();
    if (request_.adds_matches) Search(i, *filter, &found);
  }
  List(std::move(found));
}

void MeaningSource::Search(uint32_t index, const FilterNode& filter, std::vector<Found>* found) {
  StopNowIfAsked();
  const VectorView& view = generation_.vectors[index];
  const vectors::VectorGraph& graph = view.segment->graph();
  LiveOrdinals live(&generation_, &view);
  vectors::SearchRequest request{
      .vector = request_.vector, .wanted = request_.wanted, .width = request_.width, .exact = request_.exact};
  std::vector<Found> of_segment;
  const auto search = [&] {
    of_segment.clear();
    const std::span<const vectors::Neighbour> neighbours = searcher_.Search(graph, request);
    for (const vectors::Neighbour& neighbour : neighbours) {
      const auto home = live.Find(neighbour.ordinal);
      if (!home || of_segment.size() == request_.wanted) continue;
      of_segment.push_back({neighbour.cosine, graph.records()[neighbour.ordinal], home->segment, home->document});
    }
    return neighbours.size();
  };
  std::shared_ptr<const vectors::PassingVectors> prepared;
  if (filter.op != FilterOp::kAll) {
    if (!request_.exact) prepared = Prepared(index, filter);
    if (prepared != nullptr) {
      request.passing = prepared.get();
    } else {
      live.Restrict(filter);
      request.allowed = &live;
    }
    search();
  } else {
    request.wanted = request_.wanted + std::max(kMoreMin, request_.wanted / kMoreShare);
    const size_t asked = std::min(request.wanted, graph.count());
    // Where many lead nowhere they are left out by the search itself.
    if (search() == asked && of_segment.size() < request_.wanted && asked < graph.count()) {
      request.wanted = request_.wanted;
      request.allowed = &live;
      search();
    }
  }
  costs_[index] = searcher_.cost();
  found->insert(found->end(), of_segment.begin(), of_segment.end());
}

std::shared_ptr<const vectors::PassingVectors> MeaningSource::Prepared(uint32_t index, const FilterNode& filter) const {
  const VectorView& view = generation_.vectors[index];
  const vectors::VectorGraph& graph = view.segment->graph();
  return generation_.prepared_filters->Find(std::to_string(index) + ' ' + NameOf(filter), graph, [&](uint64_t packed_bytes_max) {
    LiveOrdinals live(&generation_, &view);
    live.Restrict(filter);
    return std::make_shared<const vectors::PassingVectors>(graph, live.Bits(), packed_bytes_max);
  });
}

// The nearest of all segments, by the documents that they lead to.
void MeaningSource::List(std::vector<Found> found) {
  std::ranges::sort(found, {}, [](const Found& each) { return std::pair(-each.cosine, each.record); });
  if (found.size() > request_.wanted) found.resize(request_.wanted);
  for (const Found& each : found) {
    const float score = ScoreOfCosine(each.cosine);
    if (score > 0 && score >= request_.floor) listed_[each.segment].push_back({each.document, score});
  }
  for (std::vector<ListedDocument>& listed : listed_) {
    // Of a record with several, the best.
    std::ranges::sort(listed, {}, [](const ListedDocument& each) { return std::pair(each.document, -each.score); });
    const auto rest = std::ranges::unique(listed, {}, &ListedDocument::document);
    listed.erase(rest.begin(), rest.end());
  }
}

float MeaningSource::ScoreOfCosine(float cosine) const {
  return std::max(0.0f, (cosine - request_.farthest) / (request_.nearest - request_.farthest));
}

MeaningSource::Best MeaningSource::BestOf(uint32_t record) const {
  Best best{-2, kNoPlace, 0};
  for (uint32_t i = 0; i < generation_.vectors.size(); ++i) {
    const VectorView& view = generation_.vectors[i];
    const vectors::VectorGraph& graph = view.segment->graph();
    const auto [first, end] = view.segment->OrdinalsOf(record);
    for (uint32_t ordinal = first; ordinal < end; ++ordinal) {
      if (view.deletions.Contains(ordinal)) continue;
      const float cosine = graph.CosineOf(graph.RowOf(ordinal), request_.vector);
      if (cosine > best.cosine) best = {cosine, graph.passages()[ordinal], i};
    }
  }
  return best;
}

std::unique_ptr<SegmentSource> MeaningSource::Open(uint32_t segment, bool) {
  return std::make_unique<OfSegment>(this, segment);
}

SourceScore MeaningSource::ScoreOf(uint32_t segment, uint32_t document) {
  const Best best = BestOf(generation_.segments[segment].segment->record_numbers()[document]);
  const float score = ScoreOfCosine(best.cosine);
  return score > 0 ? SourceScore{score, best.place} : SourceScore{};
}

void MeaningSource::Explain(uint32_t segment, uint32_t document, std::string* out) {
  const Best best = BestOf(generation_.segments[segment].segment->record_numbers()[document]);
  if (best.place == kNoPlace) return;
  const vectors::SearchCost& cost = costs_[best.vectors];
  out->append(",\"cosine\":");
  AppendJsonNumber(double{best.cosine}, out);
  out->append(",\"way\":");
  AppendJsonString(NameOf(cost.way), out);
  out->append(",\"compared\":");
  AppendJsonNumber(static_cast<double>(cost.compared), out);
}

}  // namespace gannet
