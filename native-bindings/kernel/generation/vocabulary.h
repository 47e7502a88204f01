// The terms of a generation's segments, by name, so that what was worked out about words lasts from write to write.
//
// Most writes bring no term that the list does not have: then the vocabulary keeps its name. A few terms that come or go are written down,
// and a word that none of them can stand for has what it had. The latest are kept: of a word that was looked at before them it is not known.
// With many at once, or where it is not known what came and went, a vocabulary begins anew.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../segment/segment.h"
#include "../vocabulary/spelling_sketches.h"

namespace gannet {

// Terms that one segment brings, or that go with some; with more it is not known which.
inline constexpr size_t kNewTermsMax = 256;
// Terms that are written down; the oldest are forgotten. A word is compared with those that came since it was looked at last, of which there
// are a few.
inline constexpr size_t kChangedTermsMax = 1024;

// That came, or went.
struct ChangedTerm {
  ChangedTerm(const std::string& changed_term, const std::string& of_language);

  std::string term;
  std::string language;
  std::string stem;  // empty: none
  WordSketch sketch;
};

struct ChangedTerms {
  uint64_t name;  // of the vocabulary after them
  std::vector<ChangedTerm> terms;
};

struct Vocabulary {
  // Wherever it is the same, the terms are the same, and how often each occurs has changed by some hundredths of the documents at most. Never
  // given to anything else in this process.
  uint64_t name = 0;
  // That which it began with.
  uint64_t root = 0;
  // From which on it is known what came and went: the root, until something is forgotten.
  uint64_t known_from = 0;
  // What came and went since, in order.
  std::vector<std::shared_ptr<const ChangedTerms>> since = {};
  size_t term_count_since = 0;
  uint64_t documents_since = 0;  // that came, or were left out by merges
};

// A segment that is added, and the terms that it brings, or that go with what it takes the place of; null: not known.
struct SegmentTerms {
  const Segment* segment;
  const std::vector<std::string>* changed_terms;
};

// What becomes of the segments of a generation.
struct TermChange {
  std::span<const SegmentTerms> added;
  std::span<const std::shared_ptr<const Segment>> removed;
  const std::vector<std::string>* gone_terms = nullptr;  // that go where nothing is added; null: not known
};

// `base` may be null; `document_count` is that of the generation.
Vocabulary NextVocabulary(const Vocabulary* base, const TermChange& change, uint64_t document_count);

// What came and went after a vocabulary of the name; nothing where that is not known.
std::optional<std::span<const std::shared_ptr<const ChangedTerms>>> ChangedAfter(const Vocabulary& vocabulary, uint64_t name);

// For each word (with its edits) false where the terms that it may stand for, and whether it is there itself, are what they were in a
// vocabulary of that name; true where they may be others.
std::vector<bool> FindAffected(const Vocabulary& vocabulary, std::span<const std::string> words,
                               std::span<const uint32_t> edits, std::span<const uint64_t> names);

}  // namespace gannet
