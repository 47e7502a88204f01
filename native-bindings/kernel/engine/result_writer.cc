#include "result_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "../common/bytes.h"
#include "../common/error.h"
#include "../filter/column_filter.h"
#include "../filter/geo.h"

namespace gannet {
namespace {

template <typename T>
void Append(T value, std::vector<uint8_t>* out) {
  const size_t offset = out->size();
  out->resize(offset + sizeof(T));
  std::memcpy(out->data() + offset, &value, sizeof(T));
}

void AppendText(const std::string& text, std::vector<uint8_t>* out) {
  Append(static_cast<uint32_t>(text.size()), out);
  out->insert(out->end(), text.begin(), text.end());
}

struct HitLocation {
  double distance = std::numeric_limits<double>::quiet_NaN();
  double latitude = std::numeric_limits<double>::quiet_NaN();
  double longitude = std::numeric_limits<double>::quiet_NaN();
};

HitLocation Locate(const Generation& generation, const QueryPlan& plan, const Hit& hit) {
  HitLocation location;
  if (!plan.has_distance) return location;
  const Column* column = FindColumn(*generation.segments[hit.segment].segment, plan.distance_column);
  if (column == nullptr) return location;
  if (column->type() != ColumnType::kLocation) {
    throw Error(ErrorCode::kInvalidArgument, "distance from a column that is not a location");
  }
  if (column->ValueCount(hit.document) == 0) return location;
  const Column::Point point = column->Location(hit.document);
  return {DistanceMetres(plan.distance_origin, {point.latitude, point.longitude}), point.latitude, point.longitude};
}

}  // namespace

std::vector<uint8_t> WriteResult(const Generation& generation, const QueryPlan& plan, const SearchResult& result) {
  constexpr size_t kBytesPerHit = 32;
  constexpr size_t kFixedBytes = 32;
  std::vector<uint8_t> out;
  out.reserve(kFixedBytes + result.hits.size() * kBytesPerHit + result.facets.size() + result.ranges.size() +
              result.explain.size());
  Append(kResultMagic, &out);
  Append(static_cast<uint32_t>(result.hits.size()), &out);
  Append(static_cast<double>(result.total_count), &out);
  size_t at = out.size();
  out.resize(at + result.hits.size() * kBytesPerHit);
  for (const Hit& hit : result.hits) {
    const HitLocation location = Locate(generation, plan, hit);
    Store(&out[at], hit.record_number);
    // The maximum is a bound computed in doubles; a sum of floats may exceed it by a rounding error.
    Store(&out[at + 4], std::min(hit.score, 1.0f));
    Store(&out[at + 8], location.distance);
    Store(&out[at + 16], location.latitude);
    Store(&out[at + 24], location.longitude);
    at += kBytesPerHit;
  }
  AppendText(result.facets, &out);
  AppendText(result.ranges, &out);
  AppendText(result.explain, &out);
  Append(static_cast<uint32_t>(result.kinds.size()), &out);
  for (const ScoreKind kind : result.kinds) Append(static_cast<uint8_t>(kind), &out);
  for (const SourceScore& score : result.scores) {
    Append(score.score, &out);
    Append(score.place, &out);
  }
  result.matches.AppendTo(&out);
  return out;
}

}  // namespace gannet
