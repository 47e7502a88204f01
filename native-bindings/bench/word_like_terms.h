// A vocabulary of any size that is the same on every run: given words, and strings that resemble them. Each letter of these is
// drawn from those that follow the three letters before it in the words (a Markov chain). So terms share beginnings, endings and
// neighbours as those of large collections do, which contain names and misspellings.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gannet::bench {

class WordLikeTerms {
 public:
  // `words` has at least one word, of the letters a to z.
  WordLikeTerms(std::vector<std::string> words, uint32_t seed) : words_(std::move(words)), random_(seed) {
    for (const std::string& word : words_) {
      std::string before(kContext, kEnd);
      for (const char letter : word + kEnd) {
        following_[before] += letter;
        before = before.substr(1) + letter;
      }
    }
  }

  // Returns `count` distinct terms in byte order: the words first, then strings that resemble them if more are needed.
  std::vector<std::string> Distinct(size_t count) {
    std::set<std::string> terms;
    for (size_t i = 0; i < words_.size() && terms.size() < count; ++i) terms.insert(words_[i]);
    while (terms.size() < count) {
      std::string term = Invented();
      if (term.size() >= kLettersMin && term.size() <= kLettersMax) terms.insert(std::move(term));
    }
    return {terms.begin(), terms.end()};
  }

  // Returns random words with one edit each: a letter inserted, deleted or replaced, or two letters swapped.
  std::vector<std::string> Misspelt(size_t count) {
    std::vector<std::string> misspelt;
    while (misspelt.size() < count) {
      std::string word = words_[Below(words_.size())];
      if (word.size() < kMisspeltLettersMin) continue;
      const size_t at = Below(word.size() - 1);
      const char letter = static_cast<char>('a' + Below(26));
      switch (Below(4)) {
        case 0: word.insert(at, 1, letter); break;
        case 1: word.erase(at, 1); break;
        case 2: word[at] = letter; break;
        default: std::swap(word[at], word[at + 1]);
      }
      misspelt.push_back(std::move(word));
    }
    return misspelt;
  }

 private:
  static constexpr size_t kContext = 3;
  static constexpr char kEnd = '.';
  static constexpr size_t kLettersMin = 3;
  static constexpr size_t kLettersMax = 20;
  static constexpr size_t kMisspeltLettersMin = 4;

  // Uses no distribution of the library: the standard fixes the numbers of std::mt19937, but not those of its distributions.
  size_t Below(size_t end) { return random_() % end; }

  std::string Invented() {
    std::string term;
    for (std::string before(kContext, kEnd); term.size() <= kLettersMax;) {
      const std::string& choices = following_[before];
      const char letter = choices[Below(choices.size())];
      if (letter == kEnd) break;
      term += letter;
      before = before.substr(1) + letter;
    }
    return term;
  }

  std::vector<std::string> words_;
  std::mt19937 random_;
  std::unordered_map<std::string, std::string> following_;
};

}  // namespace gannet::bench
