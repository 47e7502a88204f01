// Maps the vectors of a segment to the documents of their records in the segments of words.
#pragma once

#include <memory>

#include "../vectors/vector_segment.h"
#include "homes_by_segment.h"

namespace gannet {

class VectorHomes {
 public:
  // Returns the document of each ordinal. Null if `words` has too few documents (see HomesBySegment).
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& words,
                                           const vectors::VectorSegment& segment);

 private:
  HomesBySegment homes_;
};

}  // namespace gannet
