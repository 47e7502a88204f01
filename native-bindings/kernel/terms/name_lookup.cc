#include "name_lookup.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <tuple>

#include "../analysis/utf8.h"
#include "../common/error.h"
#include "../common/stop.h"
#include "hopeless_prefix.h"
#include "prefix_distance.h"
#include "term_lookup.h"

namespace gannet {
namespace {

struct NameColumn {
  const Column* column = nullptr;
  // True if there are fewer keys than documents.
  bool is_shared = false;
};

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

// Returns the first occurrence of `text` in [begin, end), or null. Compares the first two bytes and the last at 16
// places at once (W. Mula, "SIMD-friendly algorithms for substring searching", 2016): several times as fast as memmem
// for short texts.
const char* FindText(const char* begin, const char* end, std::string_view text) {
  if (static_cast<size_t>(end - begin) < text.size()) return nullptr;
#if defined(__SSE2__)
  if (text.size() >= 2) {
    const __m128i first = _mm_set1_epi8(text[0]);
    const __m128i second = _mm_set1_epi8(text[1]);
    const __m128i last = _mm_set1_epi8(text.back());
    const size_t last_at = text.size() - 1;
    const char* at = begin;
    for (; static_cast<size_t>(end - at) >= last_at + 16; at += 16) {
      const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 1));
      const __m128i behind = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + last_at));
      const __m128i all = _mm_and_si128(_mm_and_si128(_mm_cmpeq_epi8(here, first), _mm_cmpeq_epi8(next, second)),
                                        _mm_cmpeq_epi8(behind, last));
      for (auto places = static_cast<uint32_t>(_mm_movemask_epi8(all)); places != 0; places &= places - 1) {
        const char* place = at + std::countr_zero(places);
        if (memcmp(place, text.data(), text.size()) == 0) return place;
      }
    }
    begin = at;
  }
#endif
  return static_cast<const char*>(memmem(begin, static_cast<size_t>(end - begin), text.data(), text.size()));
}

class NameCollector {
 public:
  NameCollector(std::string_view prefix, uint32_t edits, size_t limit)
      : prefix_(prefix), edits_(edits), limit_(limit) {}

  size_t count() const { return matches_.size(); }

  void CollectStarts(const NameColumn& names) {
    const Column& column = *names.column;
    size_t left = limit_;
    for (uint32_t i = column.LowerBound(prefix_); i < column.dictionary_size() && left > 0; ++i, --left) {
      if (!column.Key(i).starts_with(prefix_)) break;
      Add(names, i, NameMatchKind::kStart, 0);
    }
  }

  // Makes one pass over the keys, which are stored one after the other.
  void CollectWords(const NameColumn& names) {
    const Column& column = *names.column;
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
      const char* found = FindText(at, end, prefix_);
      if (found == nullptr) return;
      StopIfAsked();
      at = found + 1;
      if (found == begin || IsWordByte(found[-1])) continue;
      const uint32_t ordinal = OrdinalAt(column, found);
      const std::string_view key = column.Key(ordinal);
      if (found + prefix_.size() > key.data() + key.size()) continue;
      at = key.data() + key.size();
      if (key.starts_with(prefix_)) continue;
      Add(names, ordinal, NameMatchKind::kWord, 0);
      --left;
    }
  }

  void CollectTypos(const NameColumn& names) {
    const Column& column = *names.column;
    const std::string_view first = prefix_.substr(0, DecodeUtf8(prefix_.data(), prefix_.size()).length);
    PrefixDistance distance(prefix_, edits_);
    HopelessPrefix hopeless;
    for (uint32_t i = column.LowerBound(first); i < column.dictionary_size() && names_left_ > 0; --names_left_) {
      StopIfAskedAt(names_left_);
      const std::string_view key = column.Key(i);
      if (!key.starts_with(first)) break;
      const uint32_t edits = distance.Of(key);
      if (edits > 0 && edits <= edits_) Add(names, i, NameMatchKind::kTypo, edits);
      const bool jumps = edits > edits_ && hopeless.ShouldJump(distance.decided_prefix());
      // A damaged file may have its keys in any order: never go backwards.
      i = jumps ? std::max(i + 1, column.LowerBound(hopeless.After())) : i + 1;
    }
  }

  std::vector<NameMatch> Take() {
    const auto rank = [](const NameMatch& match) {
      return std::tie(match.kind, match.distance, match.key, match.display);
    };
    // Of two equal matches, the shared one is kept.
    std::sort(matches_.begin(), matches_.end(), [&](const NameMatch& a, const NameMatch& b) {
      return rank(a) < rank(b) || (rank(a) == rank(b) && a.is_shared > b.is_shared);
    });
    const auto same = [&](const NameMatch& a, const NameMatch& b) { return rank(a) == rank(b); };
    matches_.erase(std::unique(matches_.begin(), matches_.end(), same), matches_.end());
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

  void Add(const NameColumn& names, uint32_t ordinal, NameMatchKind kind, uint32_t distance) {
    const Column& column = *names.column;
    matches_.push_back({std::string(column.Display(ordinal)), kind, distance, std::string(column.Key(ordinal)),
                        names.is_shared});
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
  std::vector<NameColumn> columns;
  for (const SegmentView& view : generation.segments) {
    if (const Column* found = FindColumn(*view.segment, column)) {
      columns.push_back({found, found->dictionary_size() < view.segment->document_count()});
    }
  }
  NameCollector collector(prefix, edits, limit);
  if (edits > 0) {
    for (const NameColumn& each : columns) collector.CollectTypos(each);
    return collector.Take();
  }
  for (const NameColumn& each : columns) collector.CollectStarts(each);
  if (collector.count() < limit) {
    for (const NameColumn& each : columns) collector.CollectWords(each);
  }
  return collector.Take();
}

}  // namespace gannet
