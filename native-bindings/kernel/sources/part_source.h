// A part of the records as a source: an index of its own whose documents (pages, passages) lead to records. A record
// scores what its best document does, and that document's place is the place of the score.
//
// The index of a part is a generation like that of the fields, with segments, deletions and merges. Two number columns
// say which record a document leads to and which of its documents it is; the documents' own record numbers are not used
// (docs/decisions/0082-parts-of-a-record.md). The part is searched once, before the fields: the records that it finds
// are then all known, and so are the scores of the best ones (docs/decisions/0113-pages-beside-fields.md).
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

// Returns the documents of a part's segment that lead to any of these records (ascending), ascending. They are deleted
// with these records. Throws Error(kInvalidArgument) if the segment does not belong to a part.
std::vector<uint32_t> FindPartDocuments(const Segment& segment, std::span<const uint32_t> records);

// What is needed of a part.
struct PartNeeds {
  // Number of records whose scores must be known, among those that pass the filter of the fields and have no word that
  // their query excludes; other records get some lower score.
  size_t wanted = BestRecords::kAll;
  bool all_matches = true;  // also every record that is found, whatever its score
};

// The query of a part.
struct PartQuery {
  const Generation* part = nullptr;
  const QueryPlan* plan = nullptr;  // its words and its filter
  float floor = 0;                  // 0..1, of the reported score: documents with less are not found
  float full = 1;                   // a score that counts as 1; 0: the score expected of the best document
};

class PartSource : public Source {
 public:
  // Documents that lead to no live document of `records` are left out, and so are those that `of_records`, the query of
  // the fields, excludes or filters out. `scratch` may be used again once the constructor has returned. All other
  // arguments must outlive the object; `cursors` are for bonuses and are kept for the next search. Throws
  // Error(kInvalidArgument) if `query.part` is not the generation of a part.
  PartSource(ScoreKind kind, const Generation* records, const QueryPlan* of_records, const PartQuery& query,
             const PartNeeds& needs, EvaluatorScratch* scratch, std::vector<PostingCursor>* cursors);
  ~PartSource() override;

  // Returns the share of a search, with floor and full score.
  SourceShare share() { return {this, 1, floor_, true, full_}; }

  ScoreKind kind() const override { return kind_; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  float Reached(size_t documents) const override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  // Appends the words of the record's best document; `found`, the number of documents of the part that they find; and
  // `evaluated`, the number that were evaluated one by one because they could have been the best document of one of the
  // best records.
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

 private:
  // A segment of the fields.
  struct Fields {
    uint32_t segment = 0;
    const SegmentView* view = nullptr;
    std::vector<uint64_t> passing = {};  // one bit per document; empty: all live documents
    std::vector<uint64_t> found = {};    // one bit per document, whole windows; empty if not all matches are needed
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
  std::vector<uint32_t> by_size_;                  // indexes of fields_, the largest segment first
  std::vector<BestDocument> best_;                 // ascending by home
  uint64_t found_ = 0;
  uint64_t evaluated_ = 0;
};

}  // namespace gannet
