#include "name_lookup.h"

#include <string.h>

#include <algorithm>
#include <tuple>

#include "../analysis/utf8.h"
#include "../common/error.h"
#include "prefix_distance.h"
#include "term_lookup.h"

namespace gannet {
namespace {

const Column* FindColumn(const Segment& segment, std::string_view name) {
  const std::vector<ColumnMeta>& columns = segment.meta().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name && columns[i].type == ColumnType::kString) {
      return &segment.column(static_cast<uint32_t>(i));
    }
  }
  return nullptr;
}

bool IsWordByte(char byte) {
  const auto value = static_cast<uint8_t>(byte);
  return value >= 0x80 || (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z');
}

class NameCollector {
 public:
  NameCollector(std::string_view prefix, uint32_t edits, size_t limit)
      : prefix_(prefix), edits_(edits), limit_(limit) {}

  size_t count() const { return matches_.size(); }

  void CollectStarts(const Column& column) {
    size_t left = limit_;
    for (uint32_t i = column.LowerBound(prefix_); i < column.dictionary_size() && left > 0; ++i, --left) {
      if (!column.Key(i).starts_with(prefix_)) break;
      Add(column, i, NameMatchKind::kStart, 0);
    }
  }

  // One pass over the keys as they lie, one behind the other.
  void CollectWords(const Column& column) {
    const uint32_t size = column.dictionary_size();
    if (size == 0) return;
    const char* begin = column.Key(0).data();
    const std::string_view last = column.Key(size - 1);
    if (begin == nullptr || last.data() < begin) return;
    const auto bytes = static_cast<uint64_t>(last.data() + last.size() - begin);
    const char* end = begin + std::min(bytes, bytes_left_);
    bytes_left_ -= static_cast<uint64_t>(end - begin);
    size_t left = limit_;
    for (const char* at = begin; at < end && left > 0;) {
      const auto* found = static_cast<const char*>(
          memmem(at, static_cast<size_t>(end - at), prefix_.data(), prefix_.size()));
      if (found == nullptr) return;
      at = found + 1;
      if (found == begin || IsWordByte(found[-1])) continue;
      const uint32_t ordinal = OrdinalAt(column, found);
      const std::string_view key = column.Key(ordinal);
      if (found + prefix_.size() > key.data() + key.size()) continue;
      at = key.data() + key.size();
      if (key.starts_with(prefix_)) continue;
      Add(column, ordinal, NameMatchKind::kWord, 0);
      --left;
    }
  }

  void CollectTypos(const Column& column) {
    const std::string_view first = prefix_.substr(0, DecodeUtf8(prefix_.data(), prefix_.size()).length);
    PrefixDistance distance(prefix_, edits_);
    for (uint32_t i = column.LowerBound(first); i < column.dictionary_size() && names_left_ > 0; ++i, --names_left_) {
      const std::string_view key = column.Key(i);
      if (!key.starts_with(first)) break;
      if (key.starts_with(prefix_)) continue;
      const uint32_t edits = distance.Of(key);
      if (edits <= edits_) Add(column, i, NameMatchKind::kTypo, edits);
    }
  }

  std::vector<NameMatch> Take() {
    const auto rank = [](const NameMatch& match) { return std::tie(match.kind, match.distance, match.key, match.display); };
    std::sort(matches_.begin(), matches_.end(),
              [&](const NameMatch& a, const NameMatch& b) { return rank(a) < rank(b); });
    matches_.erase(std::unique(matches_.begin(), matches_.end()), matches_.end());
    if (matches_.size() > limit_) matches_.resize(limit_);
    return std::move(matches_);
  }

 private:
  static uint32_t OrdinalAt(const Column& column, const char* place) {
    uint32_t low = 0;
    uint32_t high = column.dictionary_size();
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      if (column.Key(middle).data() <= place) low = middle; else high = middle;
    }
    return low;
  }

  void Add(const Column& column, uint32_t ordinal, NameMatchKind kind, uint32_t distance) {
    matches_.push_back(
        {std::string(column.Display(ordinal)), kind, distance, std::string(column.Key(ordinal))});
  }

  std::string_view prefix_;
  uint32_t edits_;
  size_t limit_;
  uint64_t bytes_left_ = kNameBytesScannedMax;
  uint32_t names_left_ = kNamesVisitedMax;
  std::vector<NameMatch> matches_;
};

}  // namespace

std::vector<NameMatch> FindNames(const Generation& generation, std::string_view column, std::string_view prefix,
                                 uint32_t edits, size_t limit) {
  if (edits > kFuzzyDistanceMax) throw Error(ErrorCode::kInvalidArgument, "edits are above the maximum");
  if (prefix.empty() || limit == 0) return {};
  std::vector<const Column*> columns;
  for (const SegmentView& view : generation.segments) {
    if (const Column* found = FindColumn(*view.segment, column)) columns.push_back(found);
  }
  NameCollector collector(prefix, edits, limit);
  for (const Column* each : columns) collector.CollectStarts(*each);
  if (collector.count() < limit) {
    for (const Column* each : columns) collector.CollectWords(*each);
  }
  if (edits > 0 && collector.count() < limit) {
    for (const Column* each : columns) collector.CollectTypos(*each);
  }
  return collector.Take();
}

}  // namespace gannet
