// A vocabulary of any size, the same on every run: given words, and strings that resemble them, each letter drawn from those that
// follow the three before it in the words (a Markov chain). They share beginnings, endings and neighbours as the terms of large
// collections do, names and misspellings among them.
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
  // Words of the letters a to z, at least one.
  WordLikeTerms(std::vector<std::string> words, uint32_t seed) : words_(std::move(words)), random_(seed) {
    for (const std::string& word : words_) {
      std::string before(kContext, kEnd);
      for (const char letter : word + kEnd) {
        following_[before] += letter;
        before = before.substr(1) + letter;
      }
    }
  }

  // In byte order: the words, as far as they are needed, and then what resembles them.
  std::vector<std::string> Distinct(size_t count) {
    std::set<std::string> terms;
    for (size_t i = 0; i < words_.size() && terms.size() < count; ++i) terms.insert(words_[i]);
    while (terms.size() < count) {
      std::string term = Invented();
      if (term.size() >= kLettersMin && term.size() <= kLettersMax) terms.insert(std::move(term));
    }
    return {terms.begin(), terms.end()};
  }

  // Some of the words, each with one edit: a letter more, less, another, or two exchanged.
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

  // The standard says what std::mt19937 draws, but not what its distributions make of it.
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
