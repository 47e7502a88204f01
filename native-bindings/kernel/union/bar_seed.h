// Computes a bar for the hits of a union before any of its documents is evaluated.
//
// A document scores at least what one word adds to its score. So the k-th best contribution of the rarest word, which
// is known after some blocks of its list, is a score that k documents reach; documents that cannot reach it need never
// be examined. If common words accompany a rare one ("the forecast"), their lists are left out from the first document
// on. (The idea: Kane and Tompa 2018, "Split-Lists and Initial Thresholds for WAND-based Search".)
//
// Thread-safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "../generation/generation.h"
#include "../match/group_evaluator.h"
#include "../query/prepared_query.h"

namespace gannet {

// Returns a score, without the bonus, that at least `wanted` documents of the segment reach which match the union of
// `groups` and are not deleted; 0 if none is found quickly. `groups` are in the order of scoring.
float SeedBar(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted);

// Returns the owner of a document: documents with the same owner count as one; nothing if the document does not count.
using OwnerOf = std::function<std::optional<uint64_t>(uint32_t document)>;

// The same for `wanted` owners, each by its best document.
float SeedBar(const PreparedQuery& query, uint32_t segment, std::span<GroupEvaluator* const> groups, size_t wanted, const OwnerOf& owner_of);

}  // namespace gannet
