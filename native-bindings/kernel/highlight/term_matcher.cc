#include "term_matcher.h"

#include <algorithm>

#include "../analysis/analyzer.h"
#include "../common/stop.h"

namespace gannet {

size_t TermMatcher::Bucket(std::string_view term) {
  const auto first = static_cast<uint8_t>(term.front());
  const auto last = static_cast<uint8_t>(term.back());
  return (first ^ size_t{last} << 2 ^ term.size() << 5) % std::tuple_size_v<decltype(buckets_)>;
}

TermMatcher::TermMatcher(const HighlightTerms& terms) {
  known_.reserve(terms.terms.size());
  for (const std::string_view term : terms.terms) {
    if (term.empty()) continue;
    Known& known = known_[term];
    if (known.term != kNone) continue;
    known.term = term_count_++;
    buckets_[Bucket(term)] = true;
  }
  uint32_t phrase_word_count = 0;
  for (const std::vector<std::string_view>& phrase : terms.phrases) {
    std::vector<uint32_t> words;
    for (const std::string_view word : phrase) {
      if (word.empty()) continue;
      Known& known = known_[word];
      if (known.phrase_word == kNone) known.phrase_word = phrase_word_count++;
      buckets_[Bucket(word)] = true;
      words.push_back(known.phrase_word);
    }
    if (!words.empty()) phrases_.push_back(std::move(words));
  }
}

std::vector<WordMatch> TermMatcher::Find(std::string_view text) const {
  std::vector<WordMatch> matches;
  if (known_.empty()) return matches;
  std::vector<PhraseWord> phrase_words;
  Analyzer analyzer;
  analyzer.Reset(text);
  Token token;
  size_t first_match = text.size();
  size_t step = 0;
  while (analyzer.Next(&token)) {
    StopIfAskedAt(++step);
    if (token.begin > first_match && token.begin - first_match > kHighlightScanBytesMax) break;
    if (!buckets_[Bucket(token.term)]) continue;
    const auto found = known_.find(token.term);
    if (found == known_.end()) continue;
    const Known& known = found->second;
    if (known.term != kNone) {
      matches.push_back({token.begin, token.end, known.term});
      first_match = std::min<size_t>(first_match, token.begin);
    }
    if (known.phrase_word != kNone) phrase_words.push_back({known.phrase_word, token.position, token.begin, token.end});
  }
  if (!phrases_.empty()) AddPhraseMatches(phrase_words, &matches);
  return matches;
}

void TermMatcher::AddPhraseMatches(const std::vector<PhraseWord>& words, std::vector<WordMatch>* matches) const {
  uint32_t id = term_count_;
  for (const std::vector<uint32_t>& phrase : phrases_) {
    const size_t length = phrase.size();
    for (size_t start = 0; start + length <= words.size(); ++start) {
      size_t at = 0;
      while (at < length && words[start + at].word == phrase[at] &&
             words[start + at].position == words[start].position + at) {
        ++at;
      }
      if (at < length) continue;
      for (size_t i = 0; i < length; ++i) {
        matches->push_back({words[start + i].begin, words[start + i].end, id + static_cast<uint32_t>(i)});
      }
    }
    id += static_cast<uint32_t>(length);
  }
  // A word may have matched by itself and in several phrases: its first match stays.
  std::stable_sort(matches->begin(), matches->end(),
                   [](const WordMatch& a, const WordMatch& b) { return a.begin < b.begin; });
  const auto same_word = [](const WordMatch& a, const WordMatch& b) { return a.begin == b.begin; };
  matches->erase(std::unique(matches->begin(), matches->end(), same_word), matches->end());
}

}  // namespace gannet
