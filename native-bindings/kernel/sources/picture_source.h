// The pictures of records as a source by itself, beside their text: those whose vectors are near to one that words have. A record has a score
// by it where one of its pictures is among the nearest, and none otherwise (docs/decisions/0179-words-find-pictures.md).
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
  // `pictures` has the segments of `records` with other vectors; Error(kInvalidArgument) where it has not, and as MeaningSource. The weight of
  // the request, and what it says of words, stand for nothing. All arguments outlive the object, but for the searcher.
  PictureSource(const Generation* records, const Generation* pictures, const FilterNode* filter, MeaningRequest request,
                vectors::VectorSearcher* searcher);

  ScoreKind kind() const override { return ScoreKind::kImage; }
  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool all_matches) override;
  SourceScore ScoreOf(uint32_t segment, uint32_t document) override;
  // As of meaning, where the record has a score.
  void Explain(uint32_t segment, uint32_t document, std::string* out) override;

 private:
  MeaningSource nearest_;
};

}  // namespace gannet
