// Tests compounds: longer words that begin or end with a word.
#include "../kernel/vocabulary/compounds.h"

#include <limits>

#include "../kernel/common/stop.h"
#include "check.h"
#include "known_list.h"

namespace gannet::test {
namespace {

TEST(compounds_begin_or_end_with_the_word_in_languages_that_join_words) {
  const auto is_compound = [](std::string_view term, std::string_view word, std::string_view language) {
    return IsCompound(term, word, CompoundRuleFor(word, language));
  };
  // Scripts without spaces and Hangul have compounds in any language.
  CHECK(is_compound("東京タワー", "東京", "en"));
  CHECK(is_compound("東京タワー", "タワー", "ja"));
  CHECK(is_compound("清华大学", "大学", "none"));
  CHECK(is_compound("食べ物", "食べ", "ja"));
  CHECK(is_compound("서울에서", "서울", "ko"));
  CHECK(is_compound("서울대학교", "대학교", "ko"));
  CHECK(is_compound("โรงเรียน", "เรียน", "th"));
  CHECK(!is_compound("東京", "東京", "ja"));
  CHECK(!is_compound("日本", "本", "ja"));          // one character occurs in too many words
  CHECK(!is_compound("スープ", "スー", "ja"));       // so do two kana
  CHECK(!is_compound("北東京市", "東京", "ja"));     // in the middle
  CHECK(!is_compound("ក្រុមហ៊ុន", "ក្រុមហ", "km"));  // a mark belongs to its letter
  // Alphabets have compounds in languages that join words.
  CHECK(is_compound("dampfschifffahrt", "schifffahrt", "de"));
  CHECK(is_compound("donaudampfschiff", "donau", "de"));
  CHECK(!is_compound("dampfschifffahrt", "schifffahrt", "en"));
  CHECK(!is_compound("fahrten", "fahrt", "de"));  // ending of an inflected form
  CHECK(!is_compound("dampfrad", "rad", "de"));
  CHECK(!is_compound("дамба", "дам", "ru"));
}

std::vector<std::string> CompoundsIn(const std::string& text, const std::string& word, const std::string& language = "de") {
  std::vector<std::string> found;
  for (const TermMatch& match : KnownList(language, {{text}}).Expand(word, 0, {0, 0, 0, 100}).compounds) found.push_back(match.term);
  return found;
}

TEST(compounds_of_letters_consist_of_words_of_the_list) {
  using Terms = std::vector<std::string>;
  CHECK(CompoundsIn("elemente entertainment parkente park", "ente") == Terms{"parkente"});
  CHECK(CompoundsIn("datumszeile datum", "zeile") == Terms{"datumszeile"});
  CHECK(CompoundsIn("datumszeile", "zeile").empty());
  // A long part cannot be a coincidence, so the list needs no word for the rest.
  CHECK(CompoundsIn("dampfschifffahrt", "schifffahrt") == Terms{"dampfschifffahrt"});
  CHECK(CompoundsIn("kindergarten garten", "kind") == Terms{"kindergarten"});
  // The rest may be another form of a word, and have more behind it.
  CHECK(CompoundsIn("datenfelder feld", "daten") == Terms{"datenfelder"});
  CHECK(CompoundsIn("donaudampfschiffe dampf", "donau") == Terms{"donaudampfschiffe"});
  CHECK(CompoundsIn("rinde rind bauch bau staub stau torte tor weinen wein", "rind").empty());
  CHECK(CompoundsIn("rinde rind bauch bau staub stau torte tor weinen wein", "wein").empty());
  // Words of other scripts need no word for the rest.
  CHECK(CompoundsIn("서울에서", "서울") == Terms{"서울에서"});
}

// The search for compounds visits a limited number of terms and stops at a deadline, however many terms the list has.
TEST(compounds_are_limited_and_stop_at_a_deadline) {
  std::string text;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      for (char c = 'a'; c <= 'z'; ++c) text += std::string("서울") + a + b + c + " ";
    }
  }
  const KnownList list("none", {{text + "서울역"}});
  CHECK(list.Expand("서울", 0, {0, 0, 0, 1000}).compounds.size() <= 2 * kCompoundTermsVisitedMax);
  constexpr uint32_t kFlag = 7;
  LowerStop(kFlag);  // Another test may have raised it.
  WatchStop(kFlag, std::numeric_limits<double>::infinity(), 0);
  CHECK_THROWS(kDeadline, list.Expand("서울", 0, {0, 0, 0, 1000}));
  UnwatchStop();
}

}  // namespace
}  // namespace gannet::test
