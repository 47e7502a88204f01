#include "light_stemmer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "../common/error.h"
#include "utf8.h"

namespace gannet {
namespace {

constexpr std::string_view kBlanks = " \n";
constexpr uint32_t kLettersMin = 2;

constexpr std::string_view kPolish[] = {
#include "endings_pl.inc"
};
constexpr std::string_view kCzech[] = {
#include "endings_cs.inc"
};
constexpr std::string_view kSlovak[] = {
#include "endings_sk.inc"
};
constexpr std::string_view kUkrainian[] = {
#include "endings_uk.inc"
};
constexpr std::string_view kBulgarian[] = {
#include "endings_bg.inc"
};
constexpr std::string_view kSlovenian[] = {
#include "endings_sl.inc"
};
constexpr std::string_view kPersian[] = {
#include "endings_fa.inc"
};
constexpr std::string_view kHebrew[] = {
#include "endings_he.inc"
};
// Applied to the stems of libstemmer, which are in Latin letters even if the word was Cyrillic.
constexpr std::string_view kSerbian[] = {
#include "endings_sr.inc"
};

struct Language {
  std::string_view tag;
  std::span<const std::string_view> tables;
};
constexpr std::array kLanguages = {
    Language{"bg", kBulgarian}, Language{"bs", kSerbian}, Language{"cs", kCzech},  Language{"fa", kPersian},
    Language{"he", kHebrew},    Language{"hr", kSerbian}, Language{"pl", kPolish}, Language{"sk", kSlovak},
    Language{"sl", kSlovenian}, Language{"sr", kSerbian}, Language{"uk", kUkrainian},
};

bool IsInsideCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

}  // namespace

LightStemmer::LightStemmer(std::span<const std::string_view> tables) {
  for (const std::string_view text : tables) {
    Table& table = tables_.emplace_back();
    for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
      const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
      std::string_view rule = text.substr(at, end - at);
      at = text.find_first_not_of(kBlanks, end);
      uint32_t letters_min = kLettersMin;
      if (const size_t slash = rule.find('/'); slash != std::string_view::npos) {
        std::from_chars(rule.data() + slash + 1, rule.data() + rule.size(), letters_min);
        rule = rule.substr(0, slash);
      }
      if (rule.starts_with('^')) {
        table.beginnings.emplace_back(rule.substr(1), letters_min);
        continue;
      }
      const size_t arrow = std::min(rule.find('>'), rule.size());
      const std::string_view ending = rule.substr(0, arrow);
      const std::string_view instead = arrow < rule.size() ? rule.substr(arrow + 1) : std::string_view();
      const bool is_new = table.rules.try_emplace(ending, Rule{instead, letters_min}).second;
      if (!is_new || ending.empty() || instead.size() > ending.size() || letters_min == 0) {
        throw Error(ErrorCode::kInvalidArgument, "a rule of endings: \"" + std::string(rule) + "\"");
      }
      table.ending_bytes_max = std::max(table.ending_bytes_max, ending.size());
    }
  }
}

const LightStemmer::Rule* LightStemmer::FindRule(const Table& table, std::string_view word, size_t* ending_bytes) {
  const size_t longest = std::min(table.ending_bytes_max, word.size());
  size_t begin = word.size() - longest;
  uint32_t letters = CountCharacters(word.substr(0, begin));
  for (; begin < word.size(); ++begin) {
    if (IsInsideCharacter(word[begin])) continue;
    const auto found = table.rules.find(word.substr(begin));
    if (found != table.rules.end() && letters >= found->second.letters_min) {
      *ending_bytes = word.size() - begin;
      return &found->second;
    }
    ++letters;
  }
  return nullptr;
}

void LightStemmer::Stem(std::string_view word, std::string* stem) const {
  stem->assign(word);
  for (const Table& table : tables_) {
    for (const auto& [beginning, letters_min] : table.beginnings) {
      if (!stem->starts_with(beginning) || CountCharacters(stem->substr(beginning.size())) < letters_min) continue;
      stem->erase(0, beginning.size());
      break;
    }
    size_t ending_bytes = 0;
    const Rule* rule = FindRule(table, *stem, &ending_bytes);
    if (rule != nullptr) stem->replace(stem->size() - ending_bytes, ending_bytes, rule->instead);
  }
}

const LightStemmer* FindLightStemmer(std::string_view language) {
  static const std::map<std::string_view, LightStemmer> stemmers = [] {
    std::map<std::string_view, LightStemmer> made;
    for (const auto& [tag, tables] : kLanguages) made.try_emplace(tag, tables);
    return made;
  }();
  const auto found = stemmers.find(language);
  return found == stemmers.end() ? nullptr : &found->second;
}

}  // namespace gannet
