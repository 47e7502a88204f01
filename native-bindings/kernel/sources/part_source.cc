#include "part_source.h"

#include <algorithm>

#include "../common/error.h"
#include "../common/json_writer.h"
#include "../common/stop.h"
#include "../filter/column_filter.h"
#include "listed_documents.h"
#include "word_explainer.h"
#include "word_source.h"

namespace gannet {
namespace {

const Column& NumberColumn(const Segment& segment, uint16_t index) {
  const Column* column = FindColumn(segment, index);
  if (column == nullptr || column->type() != ColumnType::kNumber || segment.meta().columns[index].many) {
    throw Error(ErrorCode::kInvalidArgument, "an index of a part without the columns of its record and place");
  }
  return *column;
}

// A damaged number leads to no record.
uint32_t NumberOf(const Column& column, uint32_t document) {
  const double number = column.ValueCount(document) == 0 ? -1 : column.Number(document);
  return number >= 0 && number < kNoPlace ? static_cast<uint32_t>(number) : kNoPlace;
}

}  // namespace

void CheckPart(const Segment& segment) {
  NumberColumn(segment, kPartRecordColumn);
  NumberColumn(segment, kPartPlaceColumn);
}

std::vector<uint32_t> FindPartDocuments(const Segment& segment, std::span<const uint32_t> records) {
  CheckPart(segment);
  const Column& column = NumberColumn(segment, kPartRecordColumn);
  std::vector<uint32_t> documents;
  for (uint32_t document = 0; document < segment.document_count(); ++document) {
    if (std::ranges::binary_search(records, NumberOf(column, document))) documents.push_back(document);
  }
  return documents;
}

PartSource::PartSource(ScoreKind kind, const Generation* records, const Generation* part, const QueryPlan* plan, float floor)
    : kind_(kind),
      records_(*records),
      part_(*part),
      plan_(*plan),
      floor_(floor),
      query_(PrepareQuery(*part, *plan)),
      proximity_(&query_, &cursors_) {
  for (uint32_t segment = 0; segment < part_.segments.size(); ++segment) SearchSegment(segment);
}

void PartSource::SearchSegment(uint32_t segment) {
  StopNowIfAsked();
  const SegmentView& view = part_.segments[segment];
  CheckPart(*view.segment);
  const uint32_t documents = view.segment->document_count();
  WordSource words(&query_, &proximity_, &scratch_);
  const std::unique_ptr<SegmentSource> source = words.Open(segment, false);
  const ColumnFilter filter(plan_.filter, *view.segment);
  for (uint32_t index = 0; (index = source->NextWindow(index, floor_)) * uint64_t{kWindowSize} < documents; ++index) {
    StopIfAsked();
    const WindowRange range{index * kWindowSize, std::min((index + 1) * kWindowSize, documents)};
    Window* window = source->Find(range, floor_);
    if (const auto& deleted = view.deletions.chunks[index]) window->matches.Subtract(deleted->data());
    filter.Apply(window);
    evaluated_ += window->matches.Count();
    ForEachBit(window->matches, [&](uint32_t offset) {
      Take(*view.segment, {window->scores[offset], kNoPlace, segment, range.base + offset});
    });
  }
}

void PartSource::Take(const Segment& source, const Best& found) {
  if (found.score < floor_) return;
  const uint32_t record = NumberOf(source.column(kPartRecordColumn), found.document);
  Best better = found;
  better.place = NumberOf(source.column(kPartPlaceColumn), found.document);
  const auto [kept, is_new] = best_.try_emplace(record, better);
  // Of equal ones, the first of the record.
  const auto rank = [](const Best& each) { return std::pair(-each.score, each.place); };
  if (!is_new && rank(better) < rank(kept->second)) kept->second = better;
}

std::unique_ptr<SegmentSource> PartSource::Open(uint32_t segment, bool) {
  const SegmentView& view = records_.segments[segment];
  std::vector<ListedDocument> listed;
  for (const auto& [record, best] : best_) {
    const std::optional<uint32_t> document = view.segment->FindDocument(record);
    if (document && !view.deletions.Contains(*document)) listed.push_back({*document, best.score});
  }
  std::ranges::sort(listed, {}, &ListedDocument::document);
  return std::make_unique<ListedDocuments>(std::move(listed));
}

const PartSource::Best* PartSource::BestOf(uint32_t segment, uint32_t document) const {
  const auto found = best_.find(records_.segments[segment].segment->record_numbers()[document]);
  return found == best_.end() ? nullptr : &found->second;
}

SourceScore PartSource::ScoreOf(uint32_t segment, uint32_t document) {
  const Best* best = BestOf(segment, document);
  return best == nullptr ? SourceScore{} : SourceScore{best->score, best->place};
}

void PartSource::Explain(uint32_t segment, uint32_t document, std::string* out) {
  const Best* best = BestOf(segment, document);
  if (best == nullptr) return;
  ExplainWords(query_, {best->segment, best->document}, &proximity_, out);
  out->append(",\"evaluated\":");
  AppendJsonNumber(static_cast<double>(evaluated_), out);
}

}  // namespace gannet
