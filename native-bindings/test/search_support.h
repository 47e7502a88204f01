// Helpers of the search tests: encode plans, decode results, and build segments from words.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/engine/search.h"
#include "../kernel/query/query_plan.h"
#include "../kernel/segment/document_batch.h"
#include "../kernel/segment/segment_builder.h"

namespace gannet::test {

class ByteWriter {
 public:
  template <typename T>
  ByteWriter& Put(T value) {
    const size_t offset = bytes_.size();
    bytes_.resize(offset + sizeof(T));
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    return *this;
  }
  ByteWriter& Text(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  ByteWriter& Bytes(const std::vector<uint8_t>& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

inline void EncodeValue(const PlanValue& value, ByteWriter* out) {
  out->Put(static_cast<uint8_t>(value.is_number));
  if (value.is_number) {
    out->Put(value.number);
  } else {
    out->Text(value.text);
  }
}

inline void EncodeFilter(const FilterNode& node, ByteWriter* out) {
  out->Put(static_cast<uint8_t>(node.op));
  switch (node.op) {
    case FilterOp::kAll:
      return;
    case FilterOp::kAnd:
    case FilterOp::kOr:
      out->Put(static_cast<uint16_t>(node.children.size()));
      [[fallthrough]];
    case FilterOp::kNot:
      for (const FilterNode& child : node.children) EncodeFilter(child, out);
      return;
    case FilterOp::kIn:
    case FilterOp::kRecord:
      out->Put(node.column).Put(static_cast<uint16_t>(node.values.size()));
      break;
    case FilterOp::kWithin:
      out->Put(node.column).Put(node.centre.latitude).Put(node.centre.longitude).Put(node.metres);
      return;
    case FilterOp::kInBox:
      out->Put(node.column).Put(node.centre.latitude).Put(node.centre.longitude);
      out->Put(node.opposite.latitude).Put(node.opposite.longitude);
      return;
    default:
      out->Put(node.column);
  }
  for (const PlanValue& value : node.values) EncodeValue(value, out);
}

inline std::vector<uint8_t> EncodePlan(const QueryPlan& plan) {
  ByteWriter out;
  out.Put(kPlanMagic).Put(plan.flags).Put(plan.skip).Put(plan.size).Put(plan.minimum_score).Put(plan.proximity_weight);
  out.Put(plan.whole_field_weight);
  out.Put(static_cast<uint32_t>(plan.groups.size()));
  for (const PlanGroup& group : plan.groups) {
    out.Put(static_cast<uint8_t>(group.occur)).Put(group.boost);
    out.Put(static_cast<uint16_t>(group.alternatives.size()));
    for (const PlanAlternative& alternative : group.alternatives) {
      out.Put(static_cast<uint8_t>(alternative.kind)).Put(alternative.weight);
      out.Put(static_cast<uint16_t>(alternative.terms.size()));
      for (const std::string_view term : alternative.terms) out.Text(term);
    }
  }
  out.Put(static_cast<uint16_t>(plan.sequence.size()));
  for (const uint16_t group : plan.sequence) out.Put(group);
  out.Put(static_cast<uint16_t>(plan.whole.size()));
  for (const uint16_t group : plan.whole) out.Put(group);
  EncodeFilter(plan.filter, &out);
  out.Put(static_cast<uint8_t>(plan.sort_keys.size()));
  for (const SortKey& key : plan.sort_keys) {
    out.Put(static_cast<uint8_t>(key.by)).Put(static_cast<uint8_t>(key.descending)).Put(key.column);
    out.Put(key.origin.latitude).Put(key.origin.longitude);
  }
  out.Put(static_cast<uint16_t>(plan.facets.size()));
  for (const PlanFacet& facet : plan.facets) out.Put(facet.column).Put(facet.values_wanted);
  out.Put(static_cast<uint16_t>(plan.has_distance ? plan.distance_column + 1 : 0));
  if (plan.has_distance) out.Put(plan.distance_origin.latitude).Put(plan.distance_origin.longitude);
  out.Put(static_cast<uint16_t>(plan.text_fields.size()));
  for (const uint32_t field : plan.text_fields) out.Put(static_cast<uint16_t>(field));
  out.Put(static_cast<uint16_t>(plan.facet_words.size()));
  for (const std::string_view word : plan.facet_words) out.Text(word);
  out.Put(static_cast<uint16_t>(plan.is_distinct ? plan.distinct_column + 1 : 0));
  return out.bytes();
}

struct ResultHit {
  uint32_t record_number = 0;
  float score = 0;
  double distance = 0;
  double latitude = 0;
  double longitude = 0;
};

struct Result {
  // Sources, and their scores by hit and then by source.
  std::vector<ScoreKind> kinds;
  std::vector<SourceScore> scores;
  double total_count = 0;
  std::vector<ResultHit> hits;
  std::string facets;
  std::string ranges;
  std::string explain;
  std::vector<uint8_t> matches;
};

inline Result DecodeResult(const std::vector<uint8_t>& bytes) {
  size_t offset = 0;
  const auto read = [&](auto* value) {
    if (offset + sizeof(*value) > bytes.size()) std::abort();
    std::memcpy(value, bytes.data() + offset, sizeof(*value));
    offset += sizeof(*value);
  };
  const auto read_text = [&](std::string* text) {
    uint32_t length = 0;
    read(&length);
    text->assign(bytes.begin() + static_cast<ptrdiff_t>(offset),
                 bytes.begin() + static_cast<ptrdiff_t>(offset + length));
    offset += length;
  };
  Result result;
  uint32_t magic = 0;
  uint32_t count = 0;
  read(&magic);
  if (magic != kResultMagic) std::abort();
  read(&count);
  read(&result.total_count);
  result.hits.resize(count);
  for (ResultHit& hit : result.hits) {
    read(&hit.record_number);
    read(&hit.score);
    read(&hit.distance);
    read(&hit.latitude);
    read(&hit.longitude);
  }
  read_text(&result.facets);
  read_text(&result.ranges);
  read_text(&result.explain);
  read(&count);
  result.kinds.resize(count);
  for (ScoreKind& kind : result.kinds) read(&kind);
  result.scores.resize(result.hits.size() * count);
  for (SourceScore& score : result.scores) {
    read(&score.score);
    read(&score.place);
  }
  if (offset > bytes.size()) std::abort();
  result.matches.assign(bytes.begin() + static_cast<ptrdiff_t>(offset), bytes.end());
  return result;
}

inline Result RunSearch(const Generation& generation, const QueryPlan& plan, const OtherSources& others = {}) {
  return DecodeResult(Search(generation, EncodePlan(plan), others));
}

// Writes one document of a batch.
class DocumentWriter {
 public:
  explicit DocumentWriter(uint32_t record_number) : record_number_(record_number) {}
  DocumentWriter& Text(uint16_t field, std::string_view text) {
    Begin(EntryKind::kText, field).Text(text);
    return *this;
  }
  DocumentWriter& String(uint16_t column, std::string_view key, std::string_view display = {}) {
    Begin(EntryKind::kString, column).Text(key).Text(display);
    return *this;
  }
  DocumentWriter& Number(uint16_t column, double number) {
    Begin(EntryKind::kNumber, column).Put(number);
    return *this;
  }
  DocumentWriter& Location(uint16_t column, double latitude, double longitude) {
    Begin(EntryKind::kLocation, column).Put(latitude).Put(longitude);
    return *this;
  }
  void AppendTo(ByteWriter* batch) const {
    batch->Put(record_number_).Put(static_cast<uint32_t>(entries_.bytes().size())).Bytes(entries_.bytes());
  }

 private:
  ByteWriter& Begin(EntryKind kind, uint16_t index) { return entries_.Put(static_cast<uint8_t>(kind)).Put(index); }

  uint32_t record_number_;
  ByteWriter entries_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gannet-search-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::shared_ptr<const Segment> Build(const SegmentSchema& schema, const std::vector<DocumentWriter>& documents) {
    ByteWriter batch;
    batch.Put(static_cast<uint32_t>(documents.size()));
    for (const DocumentWriter& document : documents) document.AppendTo(&batch);
    const std::string path = path_ / ("segment-" + std::to_string(count_++) + ".mdb");
    BuildSegment(path, schema, batch.bytes());
    return Segment::Open(path);
  }

 private:
  std::filesystem::path path_;
  int count_ = 0;
};

// Short notations for groups of plans: Group(Occur::kMust, {{1, {"word"}}}).
inline PlanGroup Group(Occur occur, std::vector<PlanAlternative> alternatives, float boost = 1) {
  return {occur, boost, std::move(alternatives)};
}
inline PlanGroup Word(std::string_view term, Occur occur = Occur::kShould) { return Group(occur, {{1, {term}}}); }

}  // namespace gannet::test
