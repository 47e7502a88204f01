#include "listed_documents.h"

#include <algorithm>
#include <utility>

namespace gannet {

ListedDocuments::ListedDocuments(std::vector<ListedDocument> documents) : documents_(std::move(documents)) {
  for (const ListedDocument& each : documents_) bound_ = std::max(bound_, each.score);
}

std::vector<ListedDocument>::const_iterator ListedDocuments::From(uint32_t document) const {
  return std::ranges::lower_bound(documents_, document, {}, &ListedDocument::document);
}

float ListedDocuments::Bound(WindowRange range) {
  float bound = 0;
  for (auto each = From(range.base); each != documents_.end() && each->document < range.end; ++each) {
    bound = std::max(bound, each->score);
  }
  return bound;
}

uint32_t ListedDocuments::NextWindow(uint32_t from, float least) {
  for (auto each = From(from * kWindowSize); each != documents_.end(); ++each) {
    if (each->score >= least) return each->document / kWindowSize;
  }
  return 0xffffffffu;
}

Window* ListedDocuments::Find(WindowRange range, float) {
  window_.range = range;
  window_.matches.Clear();
  for (auto each = From(range.base); each != documents_.end() && each->document < range.end; ++each) {
    window_.matches.Add(each->document - range.base);
    window_.scores[each->document - range.base] = each->score;
  }
  return &window_;
}

}  // namespace gannet
