#include "meaning_source.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "filter_name.h"
#include "live_ordinals.h"

namespace gannet {
namespace {

// Number of vectors requested beyond the wanted ones, because some may lead to no live record.
constexpr uint32_t kMoreShare = 8;
constexpr uint32_t kMoreMin = 8;
// Number of standard deviations added to the expected number of nearest vectors in a segment.
constexpr double kDeviations = 3;
// Least width in a segment of which few vectors are wanted: a much narrower walk through a graph would miss near ones.
constexpr uint32_t kWidthMin = 64;
// The nearest 1 / kSurelyFoundShare of the list are nearer than all unlisted vectors, except for one or two in a
// thousand that the search misses.
constexpr size_t kSurelyFoundShare = 2;

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

// Returns true if the vector's record has other vectors, which are next to it.
bool HasSeveral(const vectors::VectorGraph& graph, uint32_t ordinal) {
  const auto records = graph.records();
  const uint32_t record = records[ordinal];
  return (ordinal > 0 && records[ordinal - 1] == record) || (ordinal + 1 < graph.count() && records[ordinal + 1] == record);
}

}  // namespace

// The listed documents of a segment of words, and the vectors of the other documents.
class MeaningSource::OfSegment : public SegmentSource {
 public:
  OfSegment(const MeaningSource* source, uint32_t segment)
      : source_(*source),
        listed_(source->listed_[segment]),
        records_(source->generation_.segments[segment].segment->record_numbers()) {
    for (const VectorView& view : source->generation_.vectors) {
      homes_.push_back(view.homes->In(source->generation_.segments[segment].segment, *view.segment));
    }
  }

  float Bound() const override { return source_.others_full_; }
  uint32_t NextWindow(uint32_t from, float least) override { return listed_.NextWindow(from, least); }
  Window* Find(WindowRange range, float least) override { return listed_.Find(range, least); }
  bool CompletesOthers() const override { return true; }
  void Complete(WindowRange range, const WindowBits& documents, ScoreLimit limit, Window* found) override {
    documents_.clear();
    ForEachBit(documents, [&](uint32_t offset) { documents_.push_back(range.base + offset); });
    limits_.assign(documents_.size(), limit);
    scores_.resize(documents_.size());
    ScoreOthers(documents_, limits_, scores_.data());
    for (size_t i = 0; i < documents_.size(); ++i) {
      if (scores_[i] <= 0) continue;
      found->matches.Add(documents_[i] - range.base);
      found->scores[documents_[i] - range.base] = scores_[i];
    }
  }

  void ScoreOthers(std::span<const uint32_t> documents, std::span<const ScoreLimit> limits, float* scores) override {
    std::fill_n(scores, documents.size(), 0.0f);
    for (size_t begin = 0; begin < documents.size(); begin += kAtOnce) {
      StopIfAsked();
      const size_t size = std::min(kAtOnce, documents.size() - begin);
      ScoreSome(documents.subspan(begin, size), scores + begin);
    }
    for (size_t i = 0; i < documents.size(); ++i) {
      if (limits[i] == ScoreLimit::kBound) scores[i] = std::min(scores[i], source_.others_full_);
    }
  }

 private:
  struct Row {
    uint32_t place;    // index of its document
    uint32_t vectors;  // index of the segment of vectors
    uint32_t row;      // its ordinal until the row is known
  };
  // A vector that must be looked up by its record.
  struct Sought {
    uint32_t place;
    uint32_t vectors;
  };
  static constexpr size_t kAtOnce = 32;

  // A vector is some steps away (its record, ordinal, row), each in another place in memory. So each step is taken for
  // all documents, while what the next step reads is fetched. For most documents the ordinal is known without the
  // record.
  void ScoreSome(std::span<const uint32_t> documents, float* scores) {
    rows_.clear();
    sought_.clear();
    for (uint32_t i = 0; i < documents.size(); ++i) {
      for (uint32_t index = 0; index < homes_.size(); ++index) {
        const uint32_t ordinal = homes_[index] == nullptr ? kNoHome : homes_[index]->IndexOf(documents[i]);
        if (ordinal != kNoHome) {
          Add(i, index, ordinal);
        } else {
          __builtin_prefetch(&records_[documents[i]]);
          sought_.push_back({i, index});
        }
      }
    }
    AddSought(documents);
    for (Row& row : rows_) {
      row.row = GraphOf(row.vectors).RowOf(row.row);
      GraphOf(row.vectors).FetchHalves(row.row);
    }
    for (const Row& row : rows_) {
      const float cosine = GraphOf(row.vectors).CosineOf(row.row, source_.request_.vector);
      scores[row.place] = std::max(scores[row.place], source_.ScoreOfCosine(cosine));
    }
  }

  void Add(uint32_t place, uint32_t index, uint32_t ordinal) {
    if (source_.generation_.vectors[index].deletions.Contains(ordinal)) return;
    GraphOf(index).FetchPlace(ordinal);
    rows_.push_back({place, index, ordinal});
  }

  void AddSought(std::span<const uint32_t> documents) {
    const auto segment_of = [&](const Sought& sought) { return source_.generation_.vectors[sought.vectors].segment.get(); };
    for (const Sought& sought : sought_) segment_of(sought)->Fetch(records_[documents[sought.place]]);
    for (const Sought& sought : sought_) {
      const auto [first, end] = segment_of(sought)->OrdinalsOf(records_[documents[sought.place]]);
      for (uint32_t ordinal = first; ordinal < end; ++ordinal) Add(sought.place, sought.vectors, ordinal);
    }
  }

  const vectors::VectorGraph& GraphOf(uint32_t index) const { return source_.generation_.vectors[index].segment->graph(); }

  const MeaningSource& source_;
  ListedDocuments listed_;
  std::span<const uint32_t> records_;
  // by the generation's segments of vectors; null: records are looked up
  std::vector<std::shared_ptr<const HomesInSegment>> homes_;
  std::vector<Row> rows_;
  std::vector<Sought> sought_;
  std::vector<uint32_t> documents_;
  std::vector<ScoreLimit> limits_;
  std::vector<float> scores_;
};

MeaningSource::MeaningSource(const Generation* generation, const FilterNode* filter, MeaningRequest request,
                             vectors::VectorSearcher* searcher)
    : generation_(*generation), request_(std::move(request)), listed_(generation->segments.size()), strongest_(listed_.size()) {
  Check(request_);
  others_full_ = ScoreOfCosine(1);
  if (!vectors::Normalize(request_.vector)) Invalid("meaning: a vector has a length above zero and finite components");
  for (const VectorView& view : generation_.vectors) {
    if (view.segment->graph().dimensions() == request_.vector.size()) continue;
    Invalid("meaning: the vector has another number of dimensions than those of the list");
  }
  costs_.resize(generation_.vectors.size());
  if (request_.adds_matches) List(SearchAll(*filter, searcher));
}

// A segment of vectors while it is searched, perhaps twice: what passes the filter is determined once.
struct MeaningSource::Asked {
  Asked(uint32_t which, LiveOrdinals ordinals) : index(which), live(std::move(ordinals)) {}

  uint32_t index;
  LiveOrdinals live;
  std::shared_ptr<const vectors::PassingVectors> passing;
  bool is_prepared = false;
  uint32_t wanted = 0;
  std::vector<Found> found;
};

// Each segment is asked for its share of the wanted vectors plus a margin of the square root of that; if the nearest
// were spread at random, a segment would hardly ever have more. If they are not, and all that a segment returned are
// among the nearest, it is asked again for as many as it may have.
std::vector<MeaningSource::Found> MeaningSource::SearchAll(const FilterNode& filter, vectors::VectorSearcher* searcher) {
  uint64_t count = 0;
  for (const VectorView& view : generation_.vectors) count += view.segment->graph().count();
  std::deque<Asked> segments;
  std::vector<float> cosines;
  for (uint32_t i = 0; i < generation_.vectors.size(); ++i) {
    const VectorView& view = generation_.vectors[i];
    const double part = request_.wanted * (static_cast<double>(view.segment->graph().count()) / static_cast<double>(count));
    const double wanted = part + kDeviations * std::sqrt(part) + kMoreMin;
    Asked& asked = segments.emplace_back(i, LiveOrdinals(&generation_, &view));
    asked.wanted = request_.exact ? request_.wanted : static_cast<uint32_t>(std::min<double>(wanted, request_.wanted));
    asked.found = Search(filter, asked.wanted, &asked, searcher);
    for (const Found& each : asked.found) cosines.push_back(each.cosine);
  }
  float least = -2;
  if (cosines.size() > request_.wanted) {
    std::ranges::nth_element(cosines, cosines.begin() + request_.wanted, std::ranges::greater{});
    least = cosines[request_.wanted];
  }
  std::vector<Found> all;
  for (Asked& asked : segments) {
    const bool is_full = asked.wanted < request_.wanted && asked.found.size() == asked.wanted;
    if (is_full && asked.found.back().cosine >= least) asked.found = Search(filter, request_.wanted, &asked, searcher);
    all.insert(all.end(), asked.found.begin(), asked.found.end());
  }
  return all;
}

std::vector<MeaningSource::Found> MeaningSource::Search(const FilterNode& filter, uint32_t wanted, Asked* asked,
                                                           vectors::VectorSearcher* searcher) {
  StopNowIfAsked();
  const uint32_t index = asked->index;
  LiveOrdinals& live = asked->live;
  const vectors::VectorGraph& graph = generation_.vectors[index].segment->graph();
  const uint32_t width = std::max(std::min(request_.width, kWidthMin), static_cast<uint32_t>(uint64_t{request_.width} * wanted / request_.wanted));
  vectors::SearchRequest request{.vector = request_.vector, .wanted = wanted, .width = width, .exact = request_.exact};
  std::vector<Found> found;
  const auto search = [&] {
    found.clear();
    const std::span<const vectors::Neighbour> neighbours = searcher->Search(graph, request);
    for (const vectors::Neighbour& neighbour : neighbours) {
      live.Fetch(neighbour.ordinal);
      __builtin_prefetch(&graph.records()[neighbour.ordinal]);
    }
    for (const vectors::Neighbour& neighbour : neighbours) {
      const auto home = live.Find(neighbour.ordinal);
      if (!home || found.size() == wanted) continue;
      const uint32_t record = graph.records()[neighbour.ordinal];
      found.push_back({neighbour.cosine, record, home->segment, home->document, HasSeveral(graph, neighbour.ordinal)});
    }
    return neighbours.size();
  };
  if (filter.op != FilterOp::kAll) {
    if (!asked->is_prepared) {
      if (!request_.exact) asked->passing = Prepared(index, filter);
      if (asked->passing == nullptr) live.Restrict(filter);
      asked->is_prepared = true;
    }
    request.passing = asked->passing.get();
    if (asked->passing == nullptr) request.allowed = &live;
    search();
  } else {
    request.wanted = wanted + std::max(kMoreMin, wanted / kMoreShare);
    const size_t most = std::min(request.wanted, graph.count());
    // If many vectors lead to no live document, the search itself leaves them out.
    if (search() == most && found.size() < wanted && most < graph.count()) {
      request.wanted = wanted;
      request.allowed = &live;
      search();
    }
  }
  const uint32_t before = costs_[index].compared;
  costs_[index] = searcher->cost();
  costs_[index].compared += before;
  return found;
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

// Lists the nearest of all segments by the documents that they lead to.
void MeaningSource::List(std::vector<Found> found) {
  std::ranges::sort(found, {}, [](const Found& each) { return std::pair(-each.cosine, each.record); });
  if (found.size() > request_.wanted) found.resize(request_.wanted);
  // Unlisted vectors that are too far score less than the floor.
  others_full_ = request_.floor;
  if (const size_t rank = request_.wanted / kSurelyFoundShare; rank < found.size()) {
    others_full_ = std::max(others_full_, ScoreOfCosine(found[rank].cosine));
  }
  for (const Found& each : found) {
    // The walk through a graph may have met another vector of the record and missed the nearest.
    const float score = ScoreOfCosine(each.has_several ? std::max(each.cosine, BestOf(each.record).cosine) : each.cosine);
    if (score > 0 && score >= request_.floor) listed_[each.segment].push_back({each.document, score});
  }
  for (std::vector<ListedDocument>& listed : listed_) {
    // Of a record with several vectors, the best is kept.
    std::ranges::sort(listed, {}, [](const ListedDocument& each) { return std::pair(each.document, -each.score); });
    const auto rest = std::ranges::unique(listed, {}, &ListedDocument::document);
    listed.erase(rest.begin(), rest.end());
  }
  for (size_t segment = 0; segment < listed_.size(); ++segment) {
    for (const ListedDocument& each : listed_[segment]) strongest_[segment].push_back(each.document);
  }
}

float MeaningSource::ScoreOfCosine(float cosine) const {
  return std::max(0.0f, (cosine - request_.farthest) / (request_.nearest - request_.farthest));
}

template <typename Visit>
void MeaningSource::ForEachVector(uint32_t record, Visit&& visit) const {
  for (uint32_t i = 0; i < generation_.vectors.size(); ++i) {
    const VectorView& view = generation_.vectors[i];
    const auto [first, end] = view.segment->OrdinalsOf(record);
    for (uint32_t ordinal = first; ordinal < end; ++ordinal) {
      if (!view.deletions.Contains(ordinal)) visit(i, ordinal);
    }
  }
}

MeaningSource::Best MeaningSource::BestOf(uint32_t record) const {
  Best best{-2, kNoPlace, 0};
  ForEachVector(record, [&](uint32_t index, uint32_t ordinal) {
    const vectors::VectorGraph& graph = generation_.vectors[index].segment->graph();
    const float cosine = graph.CosineOf(graph.RowOf(ordinal), request_.vector);
    if (cosine > best.cosine) best = {cosine, graph.passages()[ordinal], index};
  });
  return best;
}

const ListedDocument* MeaningSource::FindListed(uint32_t segment, uint32_t document) const {
  const std::vector<ListedDocument>& listed = listed_[segment];
  const auto found = std::ranges::lower_bound(listed, document, {}, &ListedDocument::document);
  return found != listed.end() && found->document == document ? &*found : nullptr;
}

std::unique_ptr<SegmentSource> MeaningSource::Open(uint32_t segment, bool) {
  return std::make_unique<OfSegment>(this, segment);
}

SourceScore MeaningSource::LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit limit) {
  const Best best = BestOf(generation_.segments[segment].segment->record_numbers()[document]);
  const ListedDocument* listed = FindListed(segment, document);
  float score = listed != nullptr ? listed->score : ScoreOfCosine(best.cosine);
  if (listed == nullptr && limit == ScoreLimit::kBound) score = std::min(score, others_full_);
  return score > 0 ? SourceScore{score, best.place} : SourceScore{};
}

void MeaningSource::ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) {
  for (const uint32_t document : documents) {
    const ListedDocument* listed = FindListed(segment, document);
    *scores++ = listed != nullptr ? listed->score : ScoreOf(segment, document).score;
  }
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
