// Names the set of terms of a generation's segments, so that what was computed about words remains valid across writes.
//
// Most writes bring no term that is new to the list: the vocabulary then keeps its name. If a few terms appear or
// disappear they are recorded, and what was computed for a word remains valid if none of these terms can stand for it.
// Only the latest changes are kept; for a word that was looked up before them, nothing is known. If many terms change
// at once, or the changes are not known, a new vocabulary begins.
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

// Maximum number of terms that one segment may add, or that may disappear; if there are more, the changes count as
// unknown.
inline constexpr size_t kNewTermsMax = 256;
// Maximum number of recorded terms; the oldest are forgotten. A word is compared only with the few that changed since
// it was last looked up.
inline constexpr size_t kChangedTermsMax = 1024;

// A term that appeared or disappeared.
struct ChangedTerm {
  ChangedTerm(const std::string& changed_term, const std::string& of_language);

  std::string term;
  std::string language;
  std::string stem;  // empty if it has none
  WordSketch sketch;
};

struct ChangedTerms {
  uint64_t name;  // of the vocabulary that has these changes
  std::vector<ChangedTerm> terms;
};

struct Vocabulary {
  // Vocabularies with the same name have the same terms, and the frequency of each has changed by at most 1/64 of the
  // documents. A name is never used for anything else in this process.
  uint64_t name = 0;
  // Name of the vocabulary from which this one was derived without an unknown change.
  uint64_t root = 0;
  // Name since which all changes are known: the root, until older changes are forgotten.
  uint64_t known_from = 0;
  // The changes since known_from, in order.
  std::vector<std::shared_ptr<const ChangedTerms>> since = {};
  size_t term_count_since = 0;
  uint64_t documents_since = 0;  // that were added, or left out by merges
};

// An added segment with the terms that it brings, or that disappear with what it replaces; null if they are not known.
struct SegmentTerms {
  const Segment* segment;
  const std::vector<std::string>* changed_terms;
};

// How the segments of a generation change.
struct TermChange {
  std::span<const SegmentTerms> added;
  std::span<const std::shared_ptr<const Segment>> removed;
  const std::vector<std::string>* gone_terms = nullptr;  // that disappear if nothing is added; null: not known
};

// `base` may be null; `document_count` is that of the new generation.
Vocabulary NextVocabulary(const Vocabulary* base, const TermChange& change, uint64_t document_count);

// Returns the changes after the vocabulary with this name; nothing if they are not known.
std::optional<std::span<const std::shared_ptr<const ChangedTerms>>> ChangedAfter(const Vocabulary& vocabulary, uint64_t name);

// For each word (with its maximum number of edits), returns false if the terms that it may stand for, and whether the
// word itself is a term, are certainly the same as in the vocabulary with its name; true if they may differ.
std::vector<bool> FindAffected(const Vocabulary& vocabulary, std::span<const std::string> words,
                               std::span<const uint32_t> edits, std::span<const uint64_t> names);

}  // namespace gannet
