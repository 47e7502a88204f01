// The pictures of records as a source of its own, beside their text: finds pictures whose vectors are near to that of
// the words. A record has a score if one of its pictures is among the nearest, and none otherwise
// (docs/decisions/0179-words-find-pictures.md).
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../generation/generation.h"
#include "../query/query_plan.h"
#include "meaning_source.h"
#include "source.h"

namespace gannet {

class PictureSource : public Source {
 public:
  // `pictures` must have the segments of `records` with other vectors; Error(kInvalidArgument) is thrown if not, and as
  // by MeaningSource. The request's weight and what it says about words are ignored. All arguments except the searcher
  // must outlive the object.
  PictureSource(const Generation* records, const Generation* pictures, const FilterNode* filter, MeaningRequest request,
                vectors::VectorSearcher* searcher);

  ScoreKind kind() const override { return ScoreKind::kImage; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  // As for meaning, if the record has a score.
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

 private:
  MeaningSource nearest_;
};

}  // namespace gannet
