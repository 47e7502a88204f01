// A list with a known dictionary, and a simple, slow model of the expansions of words in it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../kernel/analysis/stemmer.h"
#include "../kernel/terms/word_expander.h"
#include "../kernel/vocabulary/compounds.h"
#include "edit_distance.h"
#include "search_support.h"

namespace gannet::test {

// A list that knows the number of documents that contain each term.
class KnownList {
 public:
  // Each inner vector is a segment, each text a document.
  KnownList(const std::string& language, const std::vector<std::vector<std::string>>& segments) : language_(language) {
    SegmentSchema schema{{1}, {}};
    schema.language = language;
    std::vector<SegmentView> views;
    uint32_t record_number = 0;
    for (const auto& texts : segments) {
      std::vector<DocumentWriter> writers;
      for (const std::string& text : texts) {
        writers.push_back(DocumentWriter(record_number++).Text(0, text));
        std::set<std::string> words;
        for (size_t begin = 0; begin < text.size();) {
          const size_t end = std::min(text.find(' ', begin), text.size());
          words.insert(text.substr(begin, end - begin));
          begin = end + 1;
        }
        for (const std::string& word : words) ++frequencies_[word];
      }
      views.push_back({folder_.Build(schema, writers), {}});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, {}, "{}");
  }

  WordExpansion Expand(const std::string& word, uint32_t edits, const ExpansionLimits& limits) const {
    return ExpandWords(*generation_, std::vector<std::string>{word}, std::vector<uint32_t>{edits}, limits)[0];
  }

  WordExpansion Expected(const std::string& word, uint32_t edits, const ExpansionLimits& limits) const {
    Stemmer& stemmer = ThreadStemmer(language_);
    const std::string stem(stemmer.Stem(word));
    WordExpansion expected;
    for (const auto& [term, frequency] : frequencies_) {
      if (term == word) {
        expected.document_frequency = frequency;
        continue;
      }
      if (term.starts_with(word)) expected.prefixes.push_back({term, 0, frequency});
      const bool is_of_stem = !stem.empty() && stemmer.Stem(term) == stem;
      if (!is_of_stem && !HasDigit(word) && IsSpellable(term) && IsCompound(term, word, CompoundRuleFor(word, language_)) &&
          IsOfWords(term, word)) {
        expected.compounds.push_back({term, 0, frequency});
      }
      if (!stem.empty() && stemmer.Stem(term) == stem) {
        expected.stems.push_back({term, 0, frequency});
      } else if (IsSpellable(word) && IsSpellable(term)) {
        const uint32_t distance = EditDistance(word, term);
        if (distance <= edits) expected.typos.push_back({term, distance, frequency});
      }
    }
    Order(&expected.stems, limits.stems);
    Order(&expected.typos, limits.typos);
    Order(&expected.prefixes, limits.prefixes);
    Order(&expected.compounds, limits.compounds);
    return expected;
  }

  std::string AnyTerm(std::mt19937* random) const {
    return std::next(frequencies_.begin(), static_cast<ptrdiff_t>((*random)() % frequencies_.size()))->first;
  }

 private:
  // True unless the language joins words and the list lacks a word for the rest of the compound.
  bool IsOfWords(const std::string& term, const std::string& word) const {
    const CompoundRule rule = CompoundRuleFor(word, language_);
    if (!rule.is_of_words) return true;
    Stemmer& stemmer = ThreadStemmer(language_);
    for (const CompoundRest& rest : RestsOf(term, word, rule)) {
      const std::string stem(stemmer.Stem(rest.text));
      for (const auto& [other, frequency] : frequencies_) {
        if (other == rest.text || (other.size() >= kInnerPartMin && HasAtJoint(rest, other))) return true;
        if (!stem.empty() && (other == stem || stemmer.Stem(other) == stem)) return true;
      }
    }
    return false;
  }

  static void Order(std::vector<TermMatch>* matches, size_t limit) {
    std::sort(matches->begin(), matches->end(), [](const TermMatch& a, const TermMatch& b) {
      if (a.distance != b.distance) return a.distance < b.distance;
      if (a.document_frequency != b.document_frequency) return a.document_frequency > b.document_frequency;
      return a.term < b.term;
    });
    if (matches->size() > limit) matches->resize(limit);
  }

  std::string language_;
  TemporaryFolder folder_;
  std::map<std::string, uint64_t> frequencies_;
  std::shared_ptr<const Generation> generation_;
};

}  // namespace gannet::test
