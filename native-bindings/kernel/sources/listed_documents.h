// Documents of a segment whose scores by a source are known before the search: nearest vectors, records by their pages.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "source.h"

namespace gannet {

struct ListedDocument {
  uint32_t document;
  float score;  // above 0
};

class ListedDocuments : public SegmentSource {
 public:
  // `documents` must ascend, each once.
  explicit ListedDocuments(std::vector<ListedDocument> documents);

  float Bound() const override { return bound_; }
  float Bound(WindowRange range) override;
  uint32_t NextWindow(uint32_t from, float least) override;
  Window* Find(WindowRange range, float least) override;

 private:
  // Returns the first one >= `document`.
  std::vector<ListedDocument>::const_iterator From(uint32_t document) const;

  std::vector<ListedDocument> documents_;
  float bound_ = 0;
  Window window_;
};

}  // namespace gannet
