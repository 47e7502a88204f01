// Sources of scores. A source says which documents it finds and how each scores, with bounds that rule out documents
// that cannot matter; CombinedMatches combines the scores of several sources into one. The words of a record's fields
// are one source (WordSource); a search without other sources bypasses this folder's sources
// (sources/segment_matches.h).
//
// Thread-safety: a source and what it opens belong to the thread of one search.
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

// Factor for a bar before a score is compared with it, because sums, shares and bounds of floats are rounded in
// different ways. One constant for all files of this folder, which are compiled as one under sanitizers.
inline constexpr float kSlack = 1 - 1e-5f;

// What a score is about. The numbers are written to results (query/plan.h). kText is words and what is summed with
// them, if parts of the record have scores of their own.
enum class ScoreKind : uint8_t { kWords = 0, kMeaning = 1, kDocument = 2, kImage = 3, kVideo = 4, kAudio = 5, kColumn = 6, kText = 7 };

inline std::string_view NameOf(ScoreKind kind) {
  constexpr std::string_view kNames[] = {"words", "meaning", "document", "image", "video", "audio", "column", "text"};
  return kNames[static_cast<size_t>(kind)];
}

inline constexpr uint32_t kNoPlace = 0xffffffffu;

// The score of a document by a source; 0 if the source does not find it. The place is the part of the document that the
// score comes from: a page, a passage, a second.
struct SourceScore {
  float score = 0;
  uint32_t place = kNoPlace;
};

// Whether a completed document may score more than the bound, which holds for all but the strongest documents.
enum class ScoreLimit : uint8_t { kNone, kBound };

// A source in one segment. Windows ascend from call to call and each is asked for once. `least` must not fall:
// documents whose score cannot reach it may be missing or, if all matches were asked for, have some lower score.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;

  // Return the most that a document scores in the segment, or in the window, rounding included, except for the
  // documents whose scores are known beforehand (Source::Strongest).
  virtual float Bound() const = 0;
  virtual float Bound(WindowRange) { return Bound(); }

  // Returns the next window >= `from` in which the source may find a document that reaches `least` (0 if all matches
  // were asked for); any number after the last window if there is none.
  virtual uint32_t NextWindow(uint32_t from, float least) = 0;

  // Returns the documents found in the window, with scores above zero. Bits of the result may be cleared; it is valid
  // until the next call.
  virtual Window* Find(WindowRange range, float least) = 0;
  // The same, restricted to `documents`. Called instead of Find.
  virtual Window* FindAmong(WindowRange range, const WindowBits& documents, float least) {
    Window* found = Find(range, least);
    found->matches.Intersect(documents);
    return found;
  }

  // True if Find returns only the matching documents, and documents that it does not find may have a score as well:
  // Complete then adds to `found`, the result of Find, all of `documents` (found by another source) that have a score.
  // FindAmong is not called.
  virtual bool CompletesOthers() const { return false; }
  virtual void Complete(WindowRange, const WindowBits& /*documents*/, ScoreLimit, Window* /*found*/) {}
  // Writes the scores of documents, of any windows, that Find does not find; 0 if one has none.
  virtual void ScoreOthers(std::span<const uint32_t> documents, std::span<const ScoreLimit>, float* scores) {
    std::fill_n(scores, documents.size(), 0.0f);
  }

  // Adds matches that Find does not return, if all matches were asked for: they are counted, and none of them is among
  // the wanted hits.
  virtual void AddCounted(WindowRange, WindowBits*) {}

  // Removes documents that no source may find.
  virtual void Exclude(Window*) {}
};

class Source {
 public:
  virtual ~Source() = default;
  virtual ScoreKind kind() const = 0;
  // `all_matches`: documents are counted, so none may be missing.
  virtual std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) = 0;
  // Returns the few documents, ascending, that may score more than the bound of an opened source.
  virtual std::span<const uint32_t> Strongest(uint32_t /*segment*/) const { return {}; }
  // Returns the most that documents other than the Strongest are expected to score, if another source finds them.
  virtual float OthersBound() const { return 0; }
  // True if Strongest returns all documents that the source finds, and others have a score only if another source finds
  // them (SegmentSource::ScoreOthers).
  virtual bool IsListed() const { return false; }
  // Returns a score that `documents` documents, which may all be hits, are known to have; 0 if none is known.
  virtual float Reached(size_t /*documents*/) const { return 0; }
  // Returns the score of a hit, the same as by Find, to the bit.
  virtual SourceScore ScoreOf(uint32_t segment, uint32_t document) = 0;
  // The same, cut to OthersBound if `limit` is kBound and the document is not one of the Strongest.
  virtual SourceScore LimitedScoreOf(uint32_t segment, uint32_t document, ScoreLimit) { return ScoreOf(segment, document); }
  // The same for several documents, which ascend; `scores` has the same length.
  virtual void ScoresOf(uint32_t segment, std::span<const uint32_t> documents, float* scores) {
    for (const uint32_t document : documents) *scores++ = ScoreOf(segment, document).score;
  }
  // The same without a rest of each score, which takes longer to compute. `rests` are upper bounds of the rests, 0 if
  // there is none.
  virtual void ScoresButRests(uint32_t segment, std::span<const uint32_t> documents, float* scores, float* rests) {
    ScoresOf(segment, documents, scores);
    std::fill_n(rests, documents.size(), 0.0f);
  }
  // Returns the rest of a document. Documents must ascend.
  virtual float RestOf(uint32_t /*segment*/, uint32_t /*document*/) { return 0; }
  // Appends members of a JSON object, each after a comma, that say what the score is made of.
  virtual void Explain(uint32_t, uint32_t, std::string*) {}
};

// A source's share in a search. Scores are summed, each times its weight. Weights are not negative, and those of all
// sources sum to 1, so the sum is in 0..1.
struct SourceShare {
  Source* source = nullptr;
  float weight = 1;
  float floor = 0;           // a document with a lower score is not found by this source
  bool adds_matches = true;  // false: only scores what other sources find
  // A score that counts as 1. A higher one counts as more; the sum is cut to 1 when it is reported.
  float full = 1;

  // Returns what a score adds to the sum.
  float Counted(float score) const { return weight * (score / full); }
  // Returns the reported score of a hit by this source, at most 1.
  SourceScore ScoreOf(uint32_t segment, uint32_t document) const { return Told(source->ScoreOf(segment, document)); }
  SourceScore Told(const SourceScore& score) const {
    return score.score < floor ? SourceScore{} : SourceScore{std::min(1.0f, score.score / full), score.place};
  }
};

}  // namespace gannet
