#include "neighbours.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "../common/stop.h"
#include "../cursors/phrase_matcher.h"

namespace gannet {
namespace {

// In a smaller segment, looking up costs no more than the cache.
constexpr uint32_t kCachedDocumentsMin = 1024;

bool LookUp(const Segment& segment, std::string_view left, std::string_view right) {
  const std::array<PostingList, 2> lists = {segment.FindTerm(left), segment.FindTerm(right)};
  if (lists[0].document_frequency() == 0 || lists[1].document_frequency() == 0) return false;
  const bool is_repeated = left == right;
  std::array<PostingCursor, 2> cursors;
  cursors[0].Reset(&lists[0]);
  cursors[1].Reset(&lists[1]);
  PhraseMatcher phrase(&segment, {0, is_repeated ? 0u : 1u}, std::span(cursors).first(is_repeated ? 1 : 2));
  for (uint32_t document = phrase.NextDocument(0); document != kNoDocument;
       document = phrase.NextDocument(document + 1)) {
    StopIfAsked();
    // NextDocument returns a lower bound, which may lack a word.
    if (phrase.Frequency(document, true) > 0) return true;
  }
  return false;
}

bool AreNeighboursIn(const Segment& segment, std::string_view left, std::string_view right, const std::string& key) {
  if (segment.document_count() < kCachedDocumentsMin) return LookUp(segment, left, right);
  if (const std::optional<bool> kept = segment.cache().neighbours.Find(key)) return *kept;
  const bool found = LookUp(segment, left, right);
  segment.cache().neighbours.Keep(key, found);
  return found;
}

}  // namespace

bool AreNeighbours(const Generation& generation, std::string_view left, std::string_view right) {
  std::string key;
  AppendKeyPart(left, &key);
  AppendKeyPart(right, &key);
  return std::ranges::any_of(generation.segments, [&](const SegmentView& view) {
    return AreNeighboursIn(*view.segment, left, right, key);
  });
}

}  // namespace gannet
