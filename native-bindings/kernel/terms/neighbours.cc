#include "neighbours.h"

#include <array>
#include <span>

#include "../common/stop.h"
#include "../cursors/phrase_matcher.h"

namespace gannet {
namespace {

bool AreNeighboursIn(const Segment& segment, std::string_view left, std::string_view right) {
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

}  // namespace

bool AreNeighbours(const Generation& generation, std::string_view left, std::string_view right) {
  for (const SegmentView& view : generation.segments) {
    if (AreNeighboursIn(*view.segment, left, right)) return true;
  }
  return false;
}

}  // namespace gannet
