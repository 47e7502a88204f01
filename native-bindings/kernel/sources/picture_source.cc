#include "picture_source.h"

#include <algorithm>
#include <utility>

#include "../common/error.h"

namespace gannet {
namespace {

const Generation* Checked(const Generation& records, const Generation* pictures) {
  const auto segment_of = [](const SegmentView& view) { return view.segment.get(); };
  if (!std::ranges::equal(records.segments, pictures->segments, {}, segment_of, segment_of)) {
    throw Error(ErrorCode::kInvalidArgument, "pictures: their generation has other segments than that of the records");
  }
  return pictures;
}

}  // namespace

PictureSource::PictureSource(const Generation* records, const Generation* pictures, const FilterNode* filter,
                             MeaningRequest request, vectors::VectorSearcher* searcher)
    : nearest_(Checked(*records, pictures), filter, std::move(request), searcher) {}

std::unique_ptr<SegmentSource> PictureSource::Open(uint32_t segment, bool) {
  return std::make_unique<ListedDocuments>(nearest_.listed(segment));
}

SourceScore PictureSource::ScoreOf(uint32_t segment, uint32_t document) {
  const std::vector<ListedDocument>& listed = nearest_.listed(segment);
  const auto found = std::ranges::lower_bound(listed, document, {}, &ListedDocument::document);
  if (found == listed.end() || found->document != document) return {};
  return {found->score, nearest_.ScoreOf(segment, document).place};
}

void PictureSource::Explain(uint32_t segment, uint32_t document, std::string* out) {
  if (ScoreOf(segment, document).score > 0) nearest_.Explain(segment, document, out);
}

}  // namespace gannet
