// Evaluates plans on a generation. This is the kernel's only entry point for searches.
//
// Thread-safety: any thread; the working memory belongs to the thread (ThreadScratch).
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

// Sources of a search besides the words of its plan. If there are none, a hit's score is that of the words.
struct OtherSources {
  std::vector<SourceShare> shares;
  float words_weight = 1;  // if there are other sources
  float words_floor = 0;
  float words_full = 1;  // a score of the words that counts as 1; 0: the score expected of the query's best record
  // Each of these gives a document a score of its own. A hit scores the maximum of these and of the sum of `shares` and
  // the words.
  std::vector<SourceShare> parts = {};
  float text_floor = 0;  // applies to the sum if there are parts: a document with less is not a hit by its text
};

// Evaluates the plan on the generation and returns a result (query/plan.h describes both). A document matches if the
// words or any of the sources find it and the plan does not exclude it. Filter, facets, minimum score and order are the
// plan's.
std::vector<uint8_t> Search(const Generation& generation, std::span<const uint8_t> plan, const OtherSources& others = {});

// Words to search for in a part of the records (documents, for example).
struct PartRequest {
  ScoreKind kind = ScoreKind::kDocument;
  std::shared_ptr<const Generation> part;
  std::vector<uint8_t> plan;  // query/plan.h: its groups and filter
  float floor = 0;            // of the reported score, 0..1
  float full = 1;             // a score that counts as 1, 0..1; 0: the score expected of the best document
};

// A search for records whose pictures are near to the meaning of the words.
struct PictureRequest {
  std::shared_ptr<const Generation> pictures;  // the segments of the searched generation, with the vectors of pictures
  MeaningRequest near;
};

struct BesideWords {
  std::optional<MeaningRequest> meaning = {};
  std::vector<PartRequest> parts = {};
  std::optional<PictureRequest> pictures = {};
  float text_floor = 0;
};

// As Search, also with records near a vector (none if the generation has no vectors) and with those found in parts and
// pictures. Throws Error(kInvalidArgument) if a number is out of its range.
std::vector<uint8_t> SearchBesideWords(const Generation& generation, std::span<const uint8_t> plan, BesideWords beside);

// Returns the record numbers of all matches of the plan's groups and filter, ascending; skip, size and sort are
// ignored.
std::vector<uint32_t> CollectRecordNumbers(const Generation& generation, std::span<const uint8_t> plan);

}  // namespace gannet
