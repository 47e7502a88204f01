// Tests compounds: longer words that begin or end with a word.
#include "../kernel/vocabulary/compounds.h"

#include <algorithm>
#include <limits>

#include "../kernel/analysis/utf8.h"
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
  constexpr uint32_t kRests = 1600;
  static_assert(kRests > kCompoundTermsVisitedMax);
  std::string text;
  std::vector<std::string> rests;
  for (uint32_t i = 0; i < kRests; ++i) {
    std::string& rest = rests.emplace_back();
    AppendUtf8(0xac00 + i / 40, &rest);
    AppendUtf8(0xac00 + i % 40, &rest);
    text += "서울" + rest + " " + rest + "서울 ";
  }
  // The last term of each order is the most frequent one, and would be the first compound if it were visited.
  const auto backwards = [](const std::string& rest) { return std::string(rest.rbegin(), rest.rend()); };
  const std::string more = "서울" + rests.back() + " " + std::ranges::max(rests, {}, backwards) + "서울";
  const KnownList list("none", {{text, more}});
  const std::vector<TermMatch> compounds = list.Expand("서울", 0, {0, 0, 0, 1000}).compounds;
  CHECK_EQ(compounds.size(), 1000u);
  CHECK(!compounds.empty() && compounds.front().document_frequency == 1);
  constexpr uint32_t kFlag = 7;
  LowerStop(kFlag);  // Another test may have raised it.
  WatchStop(kFlag, std::numeric_limits<double>::infinity(), 0);
  CHECK_THROWS(kDeadline, list.Expand("서울", 0, {0, 0, 0, 1000}));
  UnwatchStop();
}

}  // namespace
}  // namespace gannet::test
