#include "word_expander.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "../analysis/stemmer.h"
#include "../common/error.h"
#include "../vocabulary/stem_group.h"

namespace gannet {
namespace {

using Matches = std::map<std::string, TermMatch, std::less<>>;

void Add(std::string_view term, uint32_t distance, uint64_t document_frequency, Matches* matches) {
  const auto [entry, is_new] = matches->try_emplace(std::string(term));
  if (is_new) entry->second = {std::string(term), distance, 0};
  entry->second.document_frequency += document_frequency;
}

// The nearest, then the most frequent; the rest by the term, as the map has them.
std::vector<TermMatch> FirstOf(const Matches& matches, size_t limit) {
  std::vector<TermMatch> sorted;
  for (const auto& [term, match] : matches) {
    if (match.document_frequency > 0) sorted.push_back(match);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const TermMatch& a, const TermMatch& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.document_frequency > b.document_frequency;
  });
  if (sorted.size() > limit) sorted.resize(limit);
  return sorted;
}

// All terms of a segment with the word's stem, the word itself included.
void AddStems(const Segment& segment, std::string_view word, Matches* matches) {
  Stemmer& stemmer = ThreadStemmer(segment.meta().language);
  const std::string stem(stemmer.Stem(word));
  if (stem.empty()) return;
  const std::span<const uint8_t> group = segment.FindStemGroup(stem);
  if (!group.empty()) {
    VisitStemGroup(stem, group, [&](std::string_view term, uint64_t frequency) { Add(term, 0, frequency, matches); });
  } else if (stem != word && stemmer.Stem(stem) == stem) {
    Add(stem, 0, segment.FindTerm(stem).document_frequency(), matches);
  }
}

Spellings FindSpellings(const Segment& segment, const std::string& word, uint32_t edits) {
  const std::string key = static_cast<char>('0' + edits) + word;
  if (const auto kept = segment.cache().spellings.Find(key)) return *kept;
  const SpellingIndex& index = segment.spelling();
  std::vector<Spelling> spellings;
  for (const SpellingMatch& match : index.Find(word, edits)) {
    const std::string_view term = index.term(match.term);
    spellings.push_back({std::string(term), match.distance, segment.FindTerm(term).document_frequency()});
  }
  const auto shared = std::make_shared<const std::vector<Spelling>>(std::move(spellings));
  if (shared->size() <= kCachedSpellingsMax) segment.cache().spellings.Keep(key, shared);
  return shared;
}

WordExpansion ExpandWord(const Generation& generation, const std::string& word, uint32_t edits,
                         const ExpansionLimits& limits) {
  WordExpansion expansion;
  for (const SegmentView& view : generation.segments) {
    expansion.document_frequency += view.segment->FindTerm(word).document_frequency();
  }
  Matches stems;
  if (!HasDigit(word)) {
    for (const SegmentView& view : generation.segments) AddStems(*view.segment, word, &stems);
    stems.erase(word);
    if (edits > 0 && limits.typos > 0) {
      Matches typos;
      for (const SegmentView& view : generation.segments) {
        const Spellings spellings = FindSpellings(*view.segment, word, edits);  // the cache may not hold it
        for (const Spelling& spelling : *spellings) {
          if (spelling.term == word || stems.contains(spelling.term)) continue;
          Add(spelling.term, spelling.distance, spelling.document_frequency, &typos);
        }
      }
      expansion.typos = FirstOf(typos, limits.typos);
    }
    expansion.stems = FirstOf(stems, limits.stems);
  }
  if (limits.prefixes > 0) {
    expansion.prefixes = FindPrefix(generation, word, size_t{limits.prefixes} + 1);
    std::erase_if(expansion.prefixes, [&](const TermMatch& match) { return match.term == word; });
    if (expansion.prefixes.size() > limits.prefixes) expansion.prefixes.resize(limits.prefixes);
  }
  return expansion;
}

}  // namespace

std::vector<WordExpansion> ExpandWords(const Generation& generation, std::span<const std::string> words,
                                       std::span<const uint32_t> edits, const ExpansionLimits& limits) {
  if (words.size() > kExpandedWordsMax) throw Error(ErrorCode::kInvalidArgument, "too many words to expand");
  if (edits.size() != words.size()) throw Error(ErrorCode::kInvalidArgument, "edits of another number of words");
  if (std::max({limits.stems, limits.typos, limits.prefixes}) > kExpandedTermsMax) {
    throw Error(ErrorCode::kInvalidArgument, "more terms wanted than an expansion has");
  }
  std::vector<WordExpansion> expansions;
  expansions.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (edits[i] > kSpellingEditsMax) throw Error(ErrorCode::kInvalidArgument, "more edits than an expansion allows");
    expansions.push_back(ExpandWord(generation, words[i], edits[i], limits));
  }
  return expansions;
}

}  // namespace gannet
