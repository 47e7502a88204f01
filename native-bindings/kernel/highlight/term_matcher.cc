#include "term_matcher.h"

#include <algorithm>

#include "../analysis/analyzer.h"
#include "../common/stop.h"

namespace gannet {
namespace {

// A word may have matched by itself, in several phrases and by its parts. Of overlapping matches, the one that begins
// first is kept; of those, the longest; of equal ones, the first.
void KeepApart(std::vector<WordMatch>* matches) {
  std::ranges::stable_sort(*matches, [](const WordMatch& a, const WordMatch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  uint32_t end = 0;
  std::erase_if(*matches, [&end](const WordMatch& match) {
    if (match.begin < end) return true;
    end = match.end;
    return false;
  });
}

}  // namespace

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

const TermMatcher::Known* TermMatcher::FindKnown(std::string_view term) const {
  if (!buckets_[Bucket(term)]) return nullptr;
  const auto found = known_.find(term);
  return found == known_.end() ? nullptr : &found->second;
}

std::vector<WordMatch> TermMatcher::Find(std::string_view text) const {
  Found found;
  if (known_.empty()) return {};
  Analyzer analyzer;
  analyzer.Reset(text);
  WordParts parts;
  SignedWords signed_words;
  Token token;
  size_t step = 0;
  while (analyzer.Next(&token)) {
    StopIfAskedAt(++step);
    const size_t first_match = found.matches.empty() ? text.size() : found.matches.front().begin;
    if (token.begin > first_match && token.begin - first_match > kHighlightScanBytesMax) break;
    AddWord(token, signed_words.Find(text, token), &found);
    if (token.may_have_parts) AddParts(text, token, &parts, &found);
  }
  for (const auto* words : {&found.words, &found.signed_words, &found.pieces, &found.parts}) {
    AddPhraseMatches(*words, &found.matches);
  }
  if (!phrases_.empty() || found.places > 0 || found.overlap) KeepApart(&found.matches);
  return std::move(found.matches);
}

void TermMatcher::AddWord(const Token& token, const SignedWord& with_signs, Found* found) const {
  const Known* known = FindKnown(token.term);
  const Known* known_signed = with_signs.term.empty() ? nullptr : FindKnown(with_signs.term);
  if (known != nullptr && known->term != kNone) found->matches.push_back({token.begin, token.end, known->term});
  if (known_signed != nullptr && known_signed->term != kNone) {
    found->matches.push_back({with_signs.begin, with_signs.end, known_signed->term});
    found->overlap = true;
  }
  const bool in_phrase = known != nullptr && known->phrase_word != kNone;
  if (in_phrase) found->words.push_back({known->phrase_word, token.position, token.begin, token.end});
  if (known_signed != nullptr && known_signed->phrase_word != kNone) {
    found->signed_words.push_back({known_signed->phrase_word, token.position, with_signs.begin, with_signs.end});
  } else if (in_phrase) {
    found->signed_words.push_back(found->words.back());
  }
}

void TermMatcher::AddParts(std::string_view text, const Token& token, WordParts* parts, Found* found) const {
  const uint32_t places = parts->Visit(text, token, [&](const WordPart& part) {
    const Known* known = FindKnown(part.term);
    if (known == nullptr) return;
    if (known->term != kNone) found->matches.push_back({part.begin, part.end, known->term});
    if (known->phrase_word == kNone) return;
    const PhraseWord word{known->phrase_word, found->places + part.place, part.begin, part.end};
    if (part.is_between_marks) found->pieces.push_back(word);
    if (part.is_finest) found->parts.push_back(word);
  });
  if (places > 0) found->places += places + 1;
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
}

}  // namespace gannet
