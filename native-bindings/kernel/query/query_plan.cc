#include "query_plan.h"

#include <cmath>
#include <cstring>
#include <string>

#include "../common/error.h"

namespace gannet {
namespace {

[[noreturn]] void Malformed(const char* what) {
  throw Error(ErrorCode::kInvalidArgument, std::string("malformed plan: ") + what);
}

class PlanReader {
 public:
  explicit PlanReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  QueryPlan ReadPlan() {
    QueryPlan plan;
    if (Read<uint32_t>() != kPlanMagic) Malformed("magic");
    plan.flags = Read<uint32_t>();
    if ((plan.flags & ~uint32_t{kNeedTotal | kExplain | kStorageOrder | kKeepMatches}) != 0) Malformed("unknown flag");
    plan.skip = Read<uint32_t>();
    plan.size = Read<uint32_t>();
    if (uint64_t{plan.skip} + plan.size > kHitsMax) Malformed("skip + size");
    plan.minimum_score = Read<float>();
    if (!(plan.minimum_score >= 0 && plan.minimum_score <= 1)) Malformed("minimum score");
    plan.proximity_weight = Read<float>();
    if (!(plan.proximity_weight >= 0 && plan.proximity_weight <= 1)) Malformed("proximity weight");
    plan.whole_field_weight = Read<float>();
    if (!(plan.whole_field_weight >= 0 && plan.whole_field_weight <= 1)) Malformed("whole field weight");
    const uint32_t group_count = Read<uint32_t>();
    if (group_count > kGroupsMax) Malformed("too many groups");
    for (uint32_t i = 0; i < group_count; ++i) plan.groups.push_back(ReadGroup());
    plan.sequence = ReadWords(plan, kSequenceMax);
    plan.whole = ReadWords(plan, kWholeMax);
    plan.filter = ReadFilter(1);
    ReadSortKeys(&plan);
    ReadFacets(&plan);
    if (const uint16_t column = Read<uint16_t>(); column != 0) {
      plan.has_distance = true;
      plan.distance_column = static_cast<uint16_t>(column - 1);
      plan.distance_origin = ReadPoint();
    }
    ReadTextFields(&plan);
    ReadFacetWords(&plan);
    if (const uint16_t column = Read<uint16_t>(); column != 0) {
      plan.is_distinct = true;
      plan.distinct_column = static_cast<uint16_t>(column - 1);
    }
    if (offset_ != bytes_.size()) Malformed("trailing bytes");
    return plan;
  }

 private:
  template <typename T>
  T Read() {
    if (bytes_.size() - offset_ < sizeof(T)) Malformed("truncated");
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  std::string_view ReadString() {
    const uint32_t length = Read<uint32_t>();
    if (bytes_.size() - offset_ < length) Malformed("truncated string");
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + offset_, length);
    offset_ += length;
    return text;
  }

  GeoPoint ReadPoint() {
    GeoPoint point;
    point.latitude = Read<double>();
    point.longitude = Read<double>();
    if (!(point.latitude >= -90 && point.latitude <= 90)) Malformed("latitude");
    if (!(std::abs(point.longitude) <= 360)) Malformed("longitude");
    return point;
  }

  PlanGroup ReadGroup() {
    PlanGroup group;
    const uint8_t occur = Read<uint8_t>();
    if (occur > static_cast<uint8_t>(Occur::kMustNot)) Malformed("occur");
    group.occur = static_cast<Occur>(occur);
    group.boost = Read<float>();
    if (!(group.boost > 0) || !std::isfinite(group.boost)) Malformed("boost");
    const uint16_t count = Read<uint16_t>();
    if (count == 0 || count > kAlternativesMax) Malformed("alternative count");
    group.alternatives.reserve(count);
    for (uint16_t i = 0; i < count; ++i) group.alternatives.push_back(ReadAlternative());
    return group;
  }

  PlanAlternative ReadAlternative() {
    PlanAlternative alternative;
    const uint8_t kind = Read<uint8_t>();
    if (kind > static_cast<uint8_t>(AlternativeKind::kCompound)) Malformed("alternative kind");
    alternative.kind = static_cast<AlternativeKind>(kind);
    alternative.weight = Read<float>();
    if (!(alternative.weight > 0 && alternative.weight <= 1)) Malformed("weight");
    const uint16_t count = Read<uint16_t>();
    terms_ += count;
    if (count == 0 || terms_ > kPlanTermsMax) Malformed("term count");
    for (uint16_t i = 0; i < count; ++i) alternative.terms.push_back(ReadString());
    return alternative;
  }

  std::vector<uint16_t> ReadWords(const QueryPlan& plan, uint32_t count_max) {
    const uint16_t count = Read<uint16_t>();
    if (count > count_max) Malformed("sequence too long");
    std::vector<uint16_t> words;
    for (uint16_t i = 0; i < count; ++i) {
      const uint16_t group = Read<uint16_t>();
      if (group >= plan.groups.size() || plan.groups[group].occur == Occur::kMustNot) Malformed("sequence");
      words.push_back(group);
    }
    return words;
  }

  PlanValue ReadValue() {
    if (++filter_values_ > kFilterValuesMax) Malformed("too many filter values");
    PlanValue value;
    const uint8_t kind = Read<uint8_t>();
    if (kind > 1) Malformed("value kind");
    value.is_number = kind == 1;
    if (value.is_number) {
      value.number = Read<double>();
      if (std::isnan(value.number)) Malformed("value is not a number");
    } else {
      value.text = ReadString();
    }
    return value;
  }

  FilterNode ReadFilter(uint32_t depth) {
    if (depth > kFilterDepthMax) Malformed("filter too deep");
    if (++filter_nodes_ > kFilterNodesMax) Malformed("too many filter nodes");
    FilterNode node;
    const uint8_t op = Read<uint8_t>();
    if (op > static_cast<uint8_t>(FilterOp::kInBox)) Malformed("filter operator");
    node.op = static_cast<FilterOp>(op);
    switch (node.op) {
      case FilterOp::kAll:
        break;
      case FilterOp::kAnd:
      case FilterOp::kOr: {
        const uint16_t count = Read<uint16_t>();
        for (uint16_t i = 0; i < count; ++i) node.children.push_back(ReadFilter(depth + 1));
        break;
      }
      case FilterOp::kNot:
        node.children.push_back(ReadFilter(depth + 1));
        break;
      case FilterOp::kIn:
      case FilterOp::kRecord: {
        node.column = Read<uint16_t>();
        const uint16_t count = Read<uint16_t>();
        for (uint16_t i = 0; i < count; ++i) node.values.push_back(ReadValue());
        break;
      }
      case FilterOp::kIsNull:
        node.column = Read<uint16_t>();
        break;
      case FilterOp::kWithin:
        node.column = Read<uint16_t>();
        node.centre = ReadPoint();
        node.metres = Read<double>();
        if (!(node.metres >= 0)) Malformed("radius");
        break;
      case FilterOp::kInBox:
        node.column = Read<uint16_t>();
        node.centre = ReadPoint();
        node.opposite = ReadPoint();
        if (node.centre.latitude > node.opposite.latitude) Malformed("box");
        break;
      default:
        node.column = Read<uint16_t>();
        node.values.push_back(ReadValue());
    }
    return node;
  }

  void ReadSortKeys(QueryPlan* plan) {
    const uint8_t count = Read<uint8_t>();
    if (count > kSortKeysMax) Malformed("too many sort keys");
    for (uint8_t i = 0; i < count; ++i) {
      SortKey key;
      const uint8_t by = Read<uint8_t>();
      if (by > static_cast<uint8_t>(SortBy::kRecordNumber)) Malformed("sort key");
      key.by = static_cast<SortBy>(by);
      const uint8_t descending = Read<uint8_t>();
      if (descending > 1) Malformed("sort direction");
      key.descending = descending == 1;
      key.column = Read<uint16_t>();
      if (key.by == SortBy::kDistance) {
        key.origin = ReadPoint();
      } else {
        Read<double>();  // Not used by this kind, so any value is accepted.
        Read<double>();
      }
      plan->sort_keys.push_back(key);
    }
  }

  void ReadFacets(QueryPlan* plan) {
    const uint16_t count = Read<uint16_t>();
    if (count > kFacetsMax) Malformed("too many facets");
    for (uint16_t i = 0; i < count; ++i) {
      PlanFacet facet;
      facet.column = Read<uint16_t>();
      facet.values_wanted = Read<uint32_t>();
      for (const PlanFacet& other : plan->facets) {
        if (other.column == facet.column) Malformed("facet asked for twice");
      }
      plan->facets.push_back(facet);
    }
  }

  void ReadTextFields(QueryPlan* plan) {
    const uint16_t count = Read<uint16_t>();
    for (uint16_t i = 0; i < count; ++i) {
      const uint16_t field = Read<uint16_t>();
      if (!plan->text_fields.empty() && field <= plan->text_fields.back()) Malformed("text fields do not ascend");
      plan->text_fields.push_back(field);
    }
  }

  void ReadFacetWords(QueryPlan* plan) {
    const uint16_t count = Read<uint16_t>();
    if (count > kFacetWordsMax) Malformed("too many words of facets");
    for (uint16_t i = 0; i < count; ++i) {
      plan->facet_words.push_back(ReadString());
      if (plan->facet_words.back().empty()) Malformed("an empty word of facets");
    }
  }

  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
  uint64_t terms_ = 0;
  uint64_t filter_nodes_ = 0;
  uint64_t filter_values_ = 0;
};

}  // namespace

QueryPlan ParsePlan(std::span<const uint8_t> bytes) { return PlanReader(bytes).ReadPlan(); }

}  // namespace gannet
