// A part of the records as a source: an index of its own whose documents (pages, passages) lead to records. A record scores what its
// best document does, and that document's place is where the score comes from.
//
// An index of a part is a generation like that of the fields: segments, deletions and merges are the same. What its documents lead to is
// in two number columns, and their own numbers stand for nothing (docs/decisions/0082-parts-of-a-record.md).
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "../generation/generation.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "source.h"

namespace gannet {

inline constexpr uint16_t kPartRecordColumn = 0;  // of the record
inline constexpr uint16_t kPartPlaceColumn = 1;   // which of its documents: a page's number

// Error(kInvalidArgument) where the segment is not one of a part.
void CheckPart(const Segment& segment);

// The documents of a segment of a part that lead to any of these records (ascending), ascending: what is deleted with them.
// Error(kInvalidArgument) where the segment is not one of a part.
std::vector<uint32_t> FindPartDocuments(const Segment& segment, std::span<const uint32_t> records);

class PartSource : public Source {
 public:
  // The words and the filter of `plan` are looked for in `part`; what leads to no live document of `records` is left out. Documents of
  // the part below `floor` may be. All arguments outlive the object. Error(kInvalidArgument) where `part` is none.
  PartSource(ScoreKind kind, const Generation* records, const Generation* part, const QueryPlan* plan, float floor = 0);

  ScoreKind kind() const override { return kind_; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  // The words of its best document; `evaluated`, how many of the part were scored.
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

 private:
  // A record's best document.
  struct Best {
    float score;
    uint32_t place;
    uint32_t segment;  // of the part
    uint32_t document;
  };

  void SearchSegment(uint32_t segment);
  void Take(const Segment& source, const Best& found);
  const Best* BestOf(uint32_t segment, uint32_t document) const;

  ScoreKind kind_;
  const Generation& records_;
  const Generation& part_;
  const QueryPlan& plan_;
  float floor_;
  PreparedQuery query_;
  std::vector<PostingCursor> cursors_;
  ProximityScorer proximity_;
  EvaluatorScratch scratch_;
  std::unordered_map<uint32_t, Best> best_;  // by record number
  uint64_t evaluated_ = 0;                   // documents of the part that were found and scored
};

}  // namespace gannet
