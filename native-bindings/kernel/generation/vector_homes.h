// Where the records of a segment's vectors are in the segments of words.
#pragma once

#include <memory>

#include "../vectors/vector_segment.h"
#include "homes_by_segment.h"

namespace gannet {

class VectorHomes {
 public:
  // The document of each ordinal. Null where `words` has too few documents: HomesBySegment.
  std::shared_ptr<const HomesInSegment> In(const std::shared_ptr<const Segment>& words,
                                           const vectors::VectorSegment& segment);

 private:
  HomesBySegment homes_;
};

}  // namespace gannet
