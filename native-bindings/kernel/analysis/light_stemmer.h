// Stems words by tables of suffixes, for languages that libstemmer does not support, or whose endings it knows few of
// (docs/decisions/0387).
//
// A table is a text (endings_*.inc) of rules separated by blanks, each `ending>replacement/letters`. If a word ends with
// `ending` and has at least `letters` letters before it (default 2), the ending is replaced (default: removed). The longest
// ending of a word applies, so a longer one that is replaced by itself is an exception. A rule `^beginning/letters` removes
// a prefix if at least `letters` letters follow it. The tables of a language are applied one after the other: first the
// inflectional endings, then the changes that these cause in the word before them (Polish ręka, ręce; Czech kniha, knize).
//
// Words must be folded: the tables have no diacritics in Latin letters. No replacement is longer than its ending, so a
// stem is never longer than its word. The stem of well-formed UTF-8 is well-formed. Stemming is not idempotent.
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
  // `tables` must outlive the object. Throws Error(kInvalidArgument) if a table is malformed.
  explicit LightStemmer(std::span<const std::string_view> tables);

  // Writes the stem of a folded word.
  void Stem(std::string_view word, std::string* stem) const;

 private:
  struct Rule {
    std::string_view instead;  // the replacement
    uint32_t letters_min;      // before the ending
  };
  struct Table {
    std::unordered_map<std::string_view, Rule> rules;  // by ending
    std::vector<std::pair<std::string_view, uint32_t>> beginnings;  // prefix and letters that must follow
    size_t ending_bytes_max = 0;
  };

  // Returns the rule of the longest ending of `word`, and the ending's size; null if none applies.
  static const Rule* FindRule(const Table& table, std::string_view word, size_t* ending_bytes);

  std::vector<Table> tables_;
};

// Returns null for a language without tables. `language` is a BCP 47 primary tag.
const LightStemmer* FindLightStemmer(std::string_view language);

}  // namespace gannet
