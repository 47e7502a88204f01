// The terms of a generation's segments, by name, so that what was worked out about words lasts from write to write.
//
// Most writes bring no term that the list does not have: then the vocabulary keeps its name. A few new terms are written down, and a word
// that none of them can stand for has what it had. With many, or where it is not known what came and went, a vocabulary begins anew.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../segment/segment.h"
#include "../vocabulary/spelling_sketches.h"

namespace gannet {

// Terms that were written down since a vocabulary began; with more it begins anew.
inline constexpr size_t kNewTermsMax = 256;

struct NewTerm {
  NewTerm(const std::string& new_term, const std::string& of_language);

  std::string term;
  std::string language;
  std::string stem;  // empty: none
  WordSketch sketch;
};

struct NewTerms {
  uint64_t name;  // of the vocabulary with them
  std::vector<NewTerm> terms;
};

struct Vocabulary {
  // Wherever it is the same, the terms are the same, and how often each occurs has changed by some hundredths of the documents at most. Never
  // given to anything else in this process.
  uint64_t name = 0;
  // That which it began with.
  uint64_t root = 0;
  // What came since, in order.
  std::vector<std::shared_ptr<const NewTerms>> since = {};
  size_t term_count_since = 0;
  uint64_t documents_since = 0;  // that came, or were left out by merges
};

// A segment that is added, and the terms that it brings; null: not known, or some go with what it takes the place of.
struct SegmentTerms {
  const Segment* segment;
  const std::vector<std::string>* new_terms;
};

// `base` may be null; `document_count` is that of the generation.
Vocabulary NextVocabulary(const Vocabulary* base, std::span<const SegmentTerms> added,
                          std::span<const std::shared_ptr<const Segment>> removed, uint64_t document_count);

// For each word (with its edits) false where the terms that it may stand for, and whether it is there itself, are what they were in a
// vocabulary of that name; true where they may be others.
std::vector<bool> FindAffected(const Vocabulary& vocabulary, std::span<const std::string> words,
                               std::span<const uint32_t> edits, std::span<const uint64_t> names);

}  // namespace gannet
