// How many documents hold any of some terms: what the idf of a group of alternatives is made of. The sum of their
// document frequencies would count documents with several forms of a word several times (docs/decisions/0010).
//
// Thread-safety: pure functions of immutable data; answers are kept in the segments' caches.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "../generation/generation.h"
#include "../postings/posting_list.h"

namespace gannet {

struct UnionTerm {
  std::string_view text;
  std::span<const PostingList> lists;  // by segment
};

// Over all segments; `terms` are distinct.
uint64_t CountUnion(const Generation& generation, std::span<const UnionTerm> terms);

}  // namespace gannet
