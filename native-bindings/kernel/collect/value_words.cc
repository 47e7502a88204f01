#include "value_words.h"

#include <algorithm>

namespace gannet {
namespace {

bool IsLetterOrDigit(char character) {
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
}

// True for most values: their words are the runs of letters and digits, so the analyzer is not needed.
bool IsPlain(std::string_view key) {
  return std::ranges::all_of(key, [](char character) {
    return IsLetterOrDigit(character) || character == ' ' || character == '-' || character == '&' || character == '/';
  });
}

bool BeginsAWord(std::string_view word, std::string_view key) {
  for (size_t at = key.find(word); at != std::string_view::npos; at = key.find(word, at + 1)) {
    if (at == 0 || !IsLetterOrDigit(key[at - 1])) return true;
  }
  return false;
}

}  // namespace

bool ValueWords::MatchPlain(std::string_view key) const {
  return std::ranges::all_of(words_, [&](std::string_view word) { return BeginsAWord(word, key); });
}

bool ValueWords::Match(std::string_view key) {
  if (words_.empty()) return true;
  if (IsPlain(key)) return MatchPlain(key);
  std::ranges::fill(is_found_, 0);
  size_t missing = words_.size();
  analyzer_.Reset(key);
  for (Token token; missing > 0 && analyzer_.Next(&token);) {
    for (size_t i = 0; i < words_.size(); ++i) {
      if (is_found_[i] != 0 || !token.term.starts_with(words_[i])) continue;
      is_found_[i] = 1;
      --missing;
    }
  }
  return missing == 0;
}

}  // namespace gannet
