#include "word_expander.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "../analysis/stemmer.h"
#include "../common/error.h"
#include "../common/stop.h"
#include "compound_lookup.h"
#include "sought_word.h"

namespace gannet {
namespace {

// Terms with the sums of their document frequencies over the segments, in byte order. A large segment adds its terms in
// this order, and small ones change few of them.
class TermSums {
 public:
  void Add(std::string_view term, uint32_t distance, uint64_t document_frequency) {
    auto place = matches_.end();
    if (!matches_.empty() && matches_.back().term >= term) place = Find(term);
    if (place == matches_.end() || place->term != term) place = matches_.insert(place, {std::string(term), distance, 0});
    place->document_frequency += document_frequency;
  }

  bool Contains(std::string_view term) {
    const auto place = Find(term);
    return place != matches_.end() && place->term == term;
  }

  const std::vector<TermMatch>& all() const { return matches_; }

  // Returns the first terms by distance, then frequency, then term, without `left_out`.
  std::vector<TermMatch> First(size_t limit, std::string_view left_out) const {
    std::vector<const TermMatch*> order;
    for (const TermMatch& match : matches_) {
      if (match.document_frequency > 0 && match.term != left_out) order.push_back(&match);
    }
    std::sort(order.begin(), order.end(), [](const TermMatch* a, const TermMatch* b) {
      if (a->distance != b->distance) return a->distance < b->distance;
      if (a->document_frequency != b->document_frequency) return a->document_frequency > b->document_frequency;
      return a < b;
    });
    if (order.size() > limit) order.resize(limit);
    std::vector<TermMatch> first;
    first.reserve(order.size());
    for (const TermMatch* match : order) first.push_back(*match);
    return first;
  }

 private:
  std::vector<TermMatch>::iterator Find(std::string_view term) {
    return std::lower_bound(matches_.begin(), matches_.end(), term,
                            [](const TermMatch& match, std::string_view sought) { return match.term < sought; });
  }

  std::vector<TermMatch> matches_;
};

WordExpansion ExpandWord(const Generation& generation, const std::string& word, uint32_t edits,
                         const ExpansionLimits& limits) {
  WordExpansion expansion;
  SoughtWord sought(word, limits.typos > 0 ? edits : 0);
  std::vector<std::shared_ptr<const WordForms>> by_segment;
  TermSums stems;
  for (const SegmentView& view : generation.segments) {
    StopNowIfAsked();
    const WordForms& forms = *by_segment.emplace_back(sought.FormsIn(*view.segment));
    expansion.document_frequency += forms.document_frequency;
    forms.stems.Visit([&](std::string_view term, uint32_t, uint64_t frequency) { stems.Add(term, 0, frequency); });
  }
  TermSums typos;
  for (const auto& forms : by_segment) {
    forms->spellings.Visit([&](std::string_view term, uint32_t distance, uint64_t document_frequency) {
      if (!stems.Contains(term)) typos.Add(term, distance, document_frequency);
    });
  }
  expansion.typos = typos.First(limits.typos, word);
  expansion.stems = stems.First(limits.stems, word);
  // Not cached by the segments: it takes two searches in sorted order, applies only to words of some scripts and
  // languages, and the caller keeps the answer as long as the terms are the same.
  if (limits.compounds > 0) expansion.compounds = FindCompoundTerms(generation, word, stems.all(), limits.compounds);
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
  if (std::max({limits.stems, limits.typos, limits.prefixes, limits.compounds}) > kExpandedTermsMax) {
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
