// A part of the records as a source: an index of its own whose documents (pages, passages) lead to records. A record scores what its
// best document does, and that document's place is where the score comes from.
//
// An index of a part is a generation like that of the fields: segments, deletions and merges are the same. What its documents lead to is
// in two number columns, and their own numbers stand for nothing (docs/decisions/0082-parts-of-a-record.md). It is searched once, before the
// fields are: which records it finds is known of all, and scores of those that are among the best (docs/decisions/0113-pages-beside-fields.md).
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../bonus/proximity_scorer.h"
#include "../generation/generation.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"
#include "best_records.h"
#include "listed_documents.h"
#include "source.h"
#include "word_scorer.h"

namespace gannet {

// The documents of a segment of a part that lead to any of these records (ascending), ascending: what is deleted with them.
// Error(kInvalidArgument) where the segment is not one of a part.
std::vector<uint32_t> FindPartDocuments(const Segment& segment, std::span<const uint32_t> records);

// What is wanted of a part.
struct PartNeeds {
  // So many records, of those that pass the filter of the fields and have no word that their query excludes, are to be known by their scores;
  // others have some lower one.
  size_t wanted = BestRecords::kAll;
  bool all_matches = true;  // and every record that is found, whatever its score
};

// What is looked for.
struct PartQuery {
  const Generation* part = nullptr;
  const QueryPlan* plan = nullptr;  // its words and its filter
  float floor = 0;                  // 0..1, of the score as it is told: documents with less are none
  float full = 1;                   // a score that counts as 1; 0: what the best document is expected to score
};

class PartSource : public Source {
 public:
  // What leads to no live document of `records` is left out, and what `of_records`, the query of the fields, excludes or filters. `scratch` is
  // free again when the constructor has returned. All other arguments outlive the object; `cursors` are for bonuses, and kept for the next.
  // Error(kInvalidArgument) where the part is none.
  PartSource(ScoreKind kind, const Generation* records, const QueryPlan* of_records, const PartQuery& query,
             const PartNeeds& needs, EvaluatorScratch* scratch, std::vector<PostingCursor>* cursors);
  ~PartSource() override;

  // To be searched with: its floor and full score.
  SourceShare share() { return {this, 1, floor_, true, full_}; }

  ScoreKind kind() const override { return kind_; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  float Reached(size_t documents) const override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  // The words of its best document; `found`, how many documents of the part they find, and `evaluated`, how many were looked at one by one,
  // since they could have been the best of a record that is among the best.
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

 private:
  // A segment of the fields.
  struct Fields {
    uint32_t segment = 0;
    const SegmentView* view = nullptr;
    std::vector<uint64_t> passing = {};  // a bit a document; empty: all that are live
    std::vector<uint64_t> found = {};    // likewise, of whole windows; empty where not all matches are needed
    std::vector<ListedDocument> listed = {};
  };
  class OfSegment;
  class SegmentSearch;

  void FindPassing(const QueryPlan& of_records);
  bool Search(bool supposes, EvaluatorScratch* scratch);
  void RemoveWhatDoesNotPass();
  std::vector<uint32_t> PagesOf(uint32_t segment, uint32_t record) const;
  std::optional<BestDocument> BestOf(uint32_t segment, uint32_t document);
  void ScorePages(uint32_t segment, uint32_t begin, uint32_t end, std::optional<BestDocument>* best);
  uint32_t PlaceOf(const BestDocument& document) const;
  bool ComesFirst(const BestDocument& a, const BestDocument& b) const { return PlaceOf(a) < PlaceOf(b); }

  ScoreKind kind_;
  const Generation& records_;
  const Generation& part_;
  QueryPlan plan_;
  PartNeeds needs_;
  PreparedQuery query_;
  float full_;
  float floor_;
  ProximityScorer proximity_;
  WordScorer scorer_;
  std::vector<std::shared_ptr<PartHomes>> homes_;  // by segment of the part
  std::vector<Fields> fields_;                     // in the order of the generation
  std::vector<uint32_t> by_size_;                  // of these, the greatest first
  std::vector<BestDocument> best_;                 // ascending by home
  uint64_t found_ = 0;
  uint64_t evaluated_ = 0;
};

}  // namespace gannet
