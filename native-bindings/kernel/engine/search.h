// Plans answered on a generation: the kernel's one entry for searches.
//
// Thread-safety: any thread; what a search works with is the thread's own (ThreadScratch).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../generation/generation.h"
#include "../sources/meaning_source.h"
#include "../sources/part_source.h"
#include "../sources/picture_source.h"
#include "../sources/source.h"

namespace gannet {

// What a search is made of besides the words of its plan. Without other sources the words' score is the hit's.
struct OtherSources {
  std::vector<SourceShare> shares;
  float words_weight = 1;  // beside them
  float words_floor = 0;
  float words_full = 1;  // 0: what the query's best record is expected to score
  // Of each of these a document has a score by itself: the hit's is the strongest of them and of the sum of the others.
  std::vector<SourceShare> parts = {};
  float text_floor = 0;  // of the sum, beside parts: a document with less is no hit by it
};

// Answers the plan (query/plan.h) on the generation with a result (query/plan.h). Documents are found by words or by any of the
// sources, less what the plan excludes; filter, facets, minimum score and order are the plan's.
std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> plan, const OtherSources& others = {});

// Words that are looked for in a part of the records.
struct PartRequest {
  ScoreKind kind = ScoreKind::kDocument;
  std::shared_ptr<const Generation> part;
  std::vector<uint8_t> plan;  // query/plan.h: its groups and filter
  float floor = 0;            // of the score as it is told, 0..1
  float full = 1;             // a score that counts as 1, 0..1; 0: what the best document is expected to score
};

// Pictures of the records that are near to what the words mean.
struct PictureRequest {
  std::shared_ptr<const Generation> pictures;  // the segments of the generation that is searched, with the vectors of pictures
  MeaningRequest near;
};

struct BesideWords {
  std::optional<MeaningRequest> meaning = {};
  std::vector<PartRequest> parts = {};
  std::optional<PictureRequest> pictures = {};
  float text_floor = 0;
};

// The same with what is near to a vector, which is nothing where the generation has no vectors, and with what is found in parts and pictures.
// Error(kInvalidArgument) where a number is out of its range.
std::vector<uint8_t> SearchBesideWords(const Generation& generation, std::span<const uint8_t> plan, BesideWords beside);

// Record numbers of all matches of the plan's groups and filter, ascending; skip, size and sort are ignored.
std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> plan);

}  // namespace gannet
