#include "compound_lookup.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "../analysis/stemmer.h"
#include "../analysis/utf8.h"
#include "../common/stop.h"
#include "../vocabulary/compounds.h"

namespace gannet {
namespace {

// If a word has more longer words, it counts as affected by every change of the terms.
constexpr size_t kCompoundsComparedMax = 64;

bool HasTerm(const Generation& generation, std::string_view term) {
  return std::ranges::any_of(generation.segments, [&](const SegmentView& view) {
    return view.segment->FindTerm(term).document_frequency() > 0;
  });
}

bool HasStem(const Generation& generation, std::string_view stem) {
  return !stem.empty() && (HasTerm(generation, stem) || std::ranges::any_of(generation.segments, [&](const SegmentView& view) {
    return !view.segment->FindStemGroup(stem).empty();
  }));
}

// Returns true if a part of the rest, next to the word, is a term.
bool HasPartAtJoint(const Generation& generation, const CompoundRest& rest) {
  std::vector<size_t> ends;  // of characters, in bytes
  for (size_t at = 0; at < rest.text.size();) {
    at += DecodeUtf8(rest.text.data() + at, rest.text.size() - at).length;
    ends.push_back(at);
  }
  for (size_t count = kInnerPartMin; count < ends.size(); ++count) {
    const std::string_view part = rest.is_before ? rest.text.substr(ends[ends.size() - count - 1]) : rest.text.substr(0, ends[count - 1]);
    if (HasTerm(generation, part)) return true;
  }
  return false;
}

bool IsOfWords(const Generation& generation, const std::vector<CompoundRest>& rests, Stemmer& stemmer) {
  return std::ranges::any_of(rests, [&](const CompoundRest& rest) {
    return HasTerm(generation, rest.text) || HasStem(generation, stemmer.Stem(rest.text));
  }) || std::ranges::any_of(rests, [&](const CompoundRest& rest) { return HasPartAtJoint(generation, rest); });
}

// The rest of a longer word, to be compared with terms that appeared or disappeared.
struct JudgedRest {
  CompoundRest rest;
  std::string stem;
};

std::vector<JudgedRest> JudgedRestsOf(std::string_view term, std::string_view word, CompoundRule rule, Stemmer& stemmer) {
  std::vector<JudgedRest> judged;
  for (const CompoundRest& rest : RestsOf(term, word, rule)) judged.push_back({rest, std::string(stemmer.Stem(rest.text))});
  return judged;
}

// Returns true if the changed term decides whether the rest is a word or has one next to the word.
bool MayMakeWord(const ChangedTerm& changed, const JudgedRest& judged) {
  const auto& [rest, stem] = judged;
  return changed.term == rest.text || (!stem.empty() && (stem == changed.stem || stem == changed.term)) ||
         (changed.term.size() >= kInnerPartMin && HasAtJoint(rest, changed.term));
}

std::string LanguageOf(const Generation& generation) {
  return generation.segments.empty() ? std::string() : generation.segments.front().segment->meta().language;
}

// Returns each longer word once, in byte order, with the sum of its document frequencies; the rests are not checked.
std::vector<TermMatch> SumCompounds(const Generation& generation, std::string_view word, CompoundRule rule) {
  std::vector<TermMatch> found;
  for (const SegmentView& view : generation.segments) {
    const SpellingIndex& index = view.segment->spelling();
    for (const uint32_t number : FindCompounds(index, word, rule)) {
      StopIfAsked();
      const std::string_view term = index.term(number);
      found.push_back({std::string(term), 0, view.segment->FindTerm(term).document_frequency()});
    }
  }
  std::ranges::stable_sort(found, {}, &TermMatch::term);
  std::vector<TermMatch> sums;
  for (TermMatch& match : found) {
    if (sums.empty() || sums.back().term != match.term) sums.push_back(std::move(match));
    else sums.back().document_frequency += match.document_frequency;
  }
  return sums;
}

// For a word whose longer words depend on others: returns true if a change since the vocabulary `name` may affect them.
bool IsAffectedByRests(const Generation& generation, const std::string& word, uint64_t name) {
  const std::string language = LanguageOf(generation);
  const CompoundRule rule = CompoundRuleFor(word, language);
  const auto changed = ChangedAfter(generation.vocabulary, name);
  if (!rule.is_of_words || !changed || changed->empty() || HasDigit(word)) return false;
  const std::vector<TermMatch> compounds = SumCompounds(generation, word, rule);
  if (compounds.size() > kCompoundsComparedMax) return true;
  Stemmer& stemmer = ThreadStemmer(language);
  std::vector<JudgedRest> rests;
  for (const TermMatch& compound : compounds) {
    std::ranges::move(JudgedRestsOf(compound.term, word, rule, stemmer), std::back_inserter(rests));
  }
  return std::ranges::any_of(*changed, [&](const auto& terms) {
    return std::ranges::any_of(terms->terms, [&](const ChangedTerm& term) {
      StopIfAsked();
      return std::ranges::any_of(rests, [&](const JudgedRest& rest) { return MayMakeWord(term, rest); });
    });
  });
}

}  // namespace

std::vector<TermMatch> FindCompoundTerms(const Generation& generation, const std::string& word,
                                         const std::vector<TermMatch>& left_out, size_t limit) {
  const std::string language = LanguageOf(generation);
  const CompoundRule rule = CompoundRuleFor(word, language);
  if (!rule || HasDigit(word)) return {};
  std::vector<TermMatch> found = SumCompounds(generation, word, rule);
  std::erase_if(found, [&](const TermMatch& match) {
    return match.document_frequency == 0 || match.term == word || std::ranges::binary_search(left_out, match.term, {}, &TermMatch::term);
  });
  std::ranges::stable_sort(found, std::ranges::greater{}, &TermMatch::document_frequency);
  if (rule.is_of_words) {
    if (found.size() > kCompoundsJudgedMax) found.resize(kCompoundsJudgedMax);
    Stemmer& stemmer = ThreadStemmer(language);
    std::erase_if(found, [&](const TermMatch& match) {
      StopIfAsked();
      return !IsOfWords(generation, RestsOf(match.term, word, rule), stemmer);
    });
  }
  if (found.size() > limit) found.resize(limit);
  return found;
}

std::vector<bool> FindAffectedWords(const Generation& generation, std::span<const std::string> words,
                                    std::span<const uint32_t> edits, std::span<const uint64_t> names) {
  std::vector<bool> affected = FindAffected(generation.vocabulary, words, edits, names);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!affected[i]) affected[i] = IsAffectedByRests(generation, words[i], names[i]);
  }
  return affected;
}

}  // namespace gannet
