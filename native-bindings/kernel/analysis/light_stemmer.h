// Stems of languages that libstemmer has no algorithm for, or one that knows few of their endings, by tables of endings (docs/decisions/0387).
//
// A table is a text (endings_*.inc): rules with blanks between them, each `ending>instead/letters`. Where a word ends in the
// ending, and at least so many letters are before it (2 if that is left out), `instead` (nothing if that is left out) takes its
// place. Of the endings that a word has the longest counts, so that a longer one with itself in its place is an exception. A rule
// `^beginning/letters` takes letters from the begin, where so many are behind it. A
// language has several tables, each for what the one before left: first endings of inflection, then what they change of the word
// before them (Polish ręka, ręce; Czech kniha, knize).
//
// Words are folded before: tables have no diacritics in Latin letters. No ending is replaced by a longer one, so a stem is no
// longer than its word; and of well-formed UTF-8 it is well-formed. A stem of a stem may be another one.
//
// Thread-safety: const after construction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gannet {

class LightStemmer {
 public:
  // `tables` have to stay. Error(kInvalidArgument) where one is not as above.
  explicit LightStemmer(std::span<const std::string_view> tables);

  // Writes the stem of a folded word.
  void Stem(std::string_view word, std::string* stem) const;

 private:
  struct Rule {
    std::string_view instead;
    uint32_t letters_min;
  };
  struct Table {
    std::unordered_map<std::string_view, Rule> rules;  // by ending
    std::vector<std::pair<std::string_view, uint32_t>> beginnings;  // with the letters behind
    size_t ending_bytes_max = 0;
  };

  static const Rule* FindRule(const Table& table, std::string_view word, size_t* ending_bytes);

  std::vector<Table> tables_;
};

// Null for a language without tables. `language` is a BCP 47 primary tag.
const LightStemmer* FindLightStemmer(std::string_view language);

}  // namespace gannet
