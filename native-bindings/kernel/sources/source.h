// Sources of scores. A source says which documents it finds, and what score each has by it, with bounds that leave out what cannot
// matter; CombinedMatches makes one score of those of several sources. The words of a record's fields are one source (WordSource);
// a search that has no other goes past all this (engine/segment_matches.h).
//
// Thread-safety: a source and what it opens are for the thread of one search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../generation/generation.h"
#include "../window/window.h"

namespace gannet {

// Times a bar, before a score is held against it: sums, shares and bounds of floats are rounded on different ways. One for all files of
// this folder, which are compiled as one under sanitizers.
inline constexpr float kSlack = 1 - 1e-5f;

// What a score is about. The numbers go into results (query/plan.h). The text is words and what is summed with them, where parts of the
// record have scores of their own.
enum class ScoreKind : uint8_t { kWords = 0, kMeaning = 1, kDocument = 2, kImage = 3, kVideo = 4, kAudio = 5, kColumn = 6, kText = 7 };

inline std::string_view NameOf(ScoreKind kind) {
  constexpr std::string_view kNames[] = {"words", "meaning", "document", "image", "video", "audio", "column", "text"};
  return kNames[static_cast<size_t>(kind)];
}

inline constexpr uint32_t kNoPlace = 0xffffffffu;

// What a document has by a source: 0 where it is not found. The place is what of it that comes from: a page, a passage, a second.
struct SourceScore {
  float score = 0;
  uint32_t place = kNoPlace;
};

// Whether what is completed may score more than the bound that holds for all but the strongest.
enum class ScoreLimit : uint8_t { kNone, kBound };

// A source in one segment. Windows ascend from call to call and each is asked for once; `least` does not fall: documents whose score
// cannot reach it may be missing, or, where all matches were asked for, have some lower score.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;

  // The most that a document scores, rounding included, but for those whose scores are known beforehand (Source::Strongest): of the segment, and of the window.
  virtual float Bound() const = 0;
  virtual float Bound(WindowRange) { return Bound(); }

  // The next window >= from in which it may find a document that reaches `least` (0 where all matches were asked for); any number behind the last if none.
  virtual uint32_t NextWindow(uint32_t from, float least) = 0;

  // Its documents in the window, with scores above zero. Bits of the result may be taken; it is good until the next call.
  virtual Window* Find(WindowRange range, float least) = 0;
  // Those among `documents`. Instead of Find.
  virtual Window* FindAmong(WindowRange range, const WindowBits& documents, float least) {
    Window* found = Find(range, least);
    found->matches.Intersect(documents);
    return found;
  }

  // True where Find says only which documents match, and others that it does not find have a score as well: of those that another source
  // found, Complete adds to `found`, which came of Find, all that are among `documents` and have one. FindAmong is not asked for.
  virtual bool CompletesOthers() const { return false; }
  virtual void Complete(WindowRange, const WindowBits& /*documents*/, ScoreLimit, Window* /*found*/) {}
  // What documents have that Find does not find, in any windows: a score for each, 0 where it has none.
  virtual void ScoreOthers(std::span<const uint32_t> documents, std::span<const ScoreLimit>, float* scores) {
    std::fill_n(scores, documents.size(), 0.0f);
  }

  // Adds documents that it finds as well, where all matches were asked for, and that Find does not tell: they are counted, and none of them is among
  // the hits that are wanted.
  virtual void AddCounted(WindowRange, WindowBits*) {}

  // Takes what no source may find.
  virtual void Exclude(Window*) {}
};

class Source {
 public:
  virtual ~Source() = default;
  virtual ScoreKind kind() const = 0;
  // `all_matches`: documents are counted, so that none may be missing.
  virtual std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) = 0;
  // The few documents, ascending, that may score more than the bound of what was opened.
  virtual std::span<const uint32_t> Strongest(uint32_t /*segment*/) const { return {}; }
  // The most that documents beside the Strongest are expected to score, where others find them.
  virtual float OthersBound() const { return 0; }
  // Strongest tells all that is found; others have a score where another source finds them (SegmentSource::ScoreOthers).
  virtual bool IsListed() const { return false; }
  // A score that so many documents, which may all be hits, are known to have; 0 where nothing is known.
  virtual float Reached(size_t /*documents*/) const { return 0; }
  // Of a document that is a hit: as Find has it, to the bit.
  virtual SourceScore ScoreOf(uint32_t segment, uint32_t document) = 0;
  // The same, held to OthersBound where that is the limit, unless it is one of the Strongest.
  virtual SourceScore LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit) { return ScoreOf(segment, document); }
  // The same of several, which ascend: `scores` has as many.
  virtual void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) {
    for (const uint32_t document : documents) *scores++ = ScoreOf(segment, document).score;
  }
  // The same without some rest, which takes longer to find: `rests` are the most that these are, 0 where there is none.
  virtual void ScoresButRests(uint32_t segment, std::span<const uint32_t> documents, float* scores, float* rests) {
    ScoresOf(segment, documents, scores);
    std::fill_n(rests, documents.size(), 0.0f);
  }
  // What the rest of a document is. Documents ascend.
  virtual float RestOf(uint32_t /*segment*/, uint32_t /*document*/) { return 0; }
  // Appends members of a JSON object, each after a comma: what the score is made of.
  virtual void Explain(uint32_t, uint32_t, std::string*) {}
};

// A source's part in a search. Scores are summed, each times its weight; weights are not below zero, and those of all sources sum to 1,
// so that the sum is in 0..1.
struct SourceShare {
  Source* source = nullptr;
  float weight = 1;
  float floor = 0;           // a document with a lower score is none of this source's
  bool adds_matches = true;  // false: it scores what others find
  float full = 1;            // a score that counts as 1; what is above it counts as more, and the sum is cut to 1 where it is told

  // What a score adds to the sum.
  float Counted(float score) const { return weight * (score / full); }
  // Of a hit: what it has by this source, as it counts, up to 1.
  SourceScore ScoreOf(uint32_t segment, uint32_t document) const { return Told(source->ScoreOf(segment, document)); }
  SourceScore Told(const SourceScore& score) const {
    return score.score < floor ? SourceScore{} : SourceScore{std::min(1.0f, score.score / full), score.place};
  }
};

}  // namespace gannet
