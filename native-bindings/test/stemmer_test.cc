// Tests the stems of folded terms by language.
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../kernel/analysis/stemmer.h"
#include "../kernel/analysis/utf8.h"
#include "check.h"

namespace gannet::test {
namespace {

bool SameStem(const char* language, const std::vector<std::string>& words) {
  Stemmer stemmer(language);
  const std::string stem(stemmer.Stem(words.front()));
  if (stem.empty()) return false;
  for (const std::string& word : words) {
    if (stemmer.Stem(word) != stem) {
      std::fprintf(stderr, "%s: %s -> %s, not %s\n", language, word.c_str(), std::string(stemmer.Stem(word)).c_str(),
                   stem.c_str());
      return false;
    }
  }
  return true;
}

TEST(stemmer_groups_the_forms_of_a_word) {
  CHECK(SameStem("en", {"connect", "connected", "connecting", "connection", "connections"}));
  CHECK(SameStem("de", {"hauser", "hauses", "haus"}) || SameStem("de", {"hauser", "hausern", "hause"}));
  CHECK(SameStem("fr", {"continuer", "continua", "continuait"}));
  CHECK(SameStem("es", {"nacion", "naciones"}));
  CHECK(SameStem("es", {"informacion", "informaciones"}));
  CHECK(SameStem("pt", {"informacao", "informacoes"}));
  CHECK(SameStem("it", {"libro", "libri"}));
  CHECK(SameStem("nl", {"boek", "boeken"}));
  CHECK(SameStem("sv", {"flicka", "flickor", "flickorna"}));
  for (const char* norwegian : {"no", "nb", "nn"}) CHECK(SameStem(norwegian, {"hus", "huset", "husene"}));
  CHECK(SameStem("da", {"bil", "bilen", "biler"}));
  CHECK(SameStem("fi", {"talo", "talon", "talossa"}));
  CHECK(SameStem("ru", {"книга", "книги", "книгой"}));
  CHECK(SameStem("ru", {"новый", "новая", "новой"}));
  CHECK(SameStem("hu", {"haz", "hazak"}) || SameStem("hu", {"konyv", "konyvek"}));
  CHECK(SameStem("ro", {"casa", "case", "casele"}));
  CHECK(SameStem("tr", {"kitap", "kitaplar"}));
  CHECK(SameStem("ca", {"amic", "amics"}));
  CHECK(SameStem("id", {"makan", "makanan", "dimakan"}));
  CHECK(SameStem("ar", {"كتاب", "الكتاب"}));
  CHECK(SameStem("el", {"βιβλια", "βιβλιων"}));
  CHECK(SameStem("hi", {"लडका", "लडके"}));
  CHECK(SameStem("lt", {"namas", "namai"}));
}

TEST(stemmer_groups_irregular_forms_of_a_word) {
  CHECK(SameStem("es", {"luz", "luces"}) && SameStem("es", {"lapiz", "lapices"}));
  CHECK(SameStem("pt", {"acao", "acoes"}) && SameStem("pt", {"coracao", "coracoes"}) && SameStem("pt", {"pao", "paes"}));
  CHECK(SameStem("pt", {"animal", "animais"}) && SameStem("pt", {"papel", "papeis"}));
  CHECK(!SameStem("pt", {"mal", "mais"}));
  CHECK(SameStem("tr", {"istanbul", "istanbul'da", "istanbul'un"}) && SameStem("tr", {"turkiye", "turkiye'nin"}));
  for (const char* language : {"hr", "bs"}) CHECK(SameStem(language, {"knjiga", "knjige"}));
}

TEST(stemmer_groups_the_forms_of_a_word_in_languages_with_tables_of_endings) {
  CHECK(SameStem("pl", {"ksiazka", "ksiazki", "ksiazke", "ksiazce", "ksiazek", "ksiazkami"}));
  CHECK(SameStem("pl", {"samochod", "samochody", "samochodow", "samochodem"}));
  CHECK(SameStem("pl", {"nowy", "nowa", "nowego", "nowych"}));
  CHECK(SameStem("cs", {"kniha", "knihy", "knize", "knih", "knihou"}) && SameStem("cs", {"auto", "auta", "autem"}));
  CHECK(SameStem("sk", {"kniha", "knihy", "knih"}) && SameStem("sk", {"zena", "zeny", "zien"}));
  CHECK(SameStem("uk", {"книга", "книги", "книгу", "книгою", "книг"}) && SameStem("uk", {"робота", "роботи", "робіт"}));
  CHECK(SameStem("bg", {"книга", "книги", "книгата", "книгите"}) && SameStem("bg", {"град", "градове", "градът"}));
  CHECK(!SameStem("pl", {"kot", "kod"}) && !SameStem("cs", {"les", "led"}) && !SameStem("uk", {"кіт", "кит"}));
  CHECK(SameStem("sl", {"knjiga", "knjige", "knjigo", "knjig"}));
  for (const char* language : {"bs", "hr", "sr"}) {
    CHECK(SameStem(language, {"knjiga", "knjige", "knjizi", "knjigom", "књига", "књигама"}));
    CHECK(SameStem(language, {"grad", "gradovi", "gradova", "градови"}) && SameStem(language, {"mleko", "млеко"}));
  }
  CHECK(SameStem("fa", {"كتاب", "كتابها", "كتابهاي", "كتابي"}) && SameStem("fa", {"خانه", "خانهها", "خانههاي"}));
  CHECK(SameStem("he", {"ספר", "ספרים", "ספרי", "הספר", "הספרים"}) && SameStem("he", {"ילד", "ילדה", "ילדים", "הילדים"}));
  Stemmer polish("pl");
  CHECK_EQ(polish.Stem("ow"), "ow");
}

TEST(stemmer_with_tables_of_endings_gives_well_formed_stems_of_random_bytes) {
  std::mt19937 random(5);
  const std::string_view letters[] = {"a", "e", "i", "k", "ow", "sz", "а", "и", "ів", "ого", "ще", "й", "ي", "ها", "ה", "ים", "\xd0", "\xff", "'"};
  for (const char* language : {"bg", "cs", "fa", "he", "hr", "pl", "sk", "sl", "uk"}) {
    Stemmer stemmer(language);
    for (int i = 0; i < 2000; ++i) {
      std::string word;
      bool is_text = true;
      for (uint32_t left = random() % 12; left > 0; --left) {
        const std::string_view letter = letters[random() % std::size(letters)];
        is_text = is_text && letter != "\xd0" && letter != "\xff";
        word += letter;
      }
      const std::string stem(stemmer.Stem(word));
      CHECK(stem.size() <= word.size() && (stem.empty() || CountCharacters(stem) >= 1));
      if (!is_text) continue;
      for (size_t at = 0; at < stem.size();) {
        const auto [code, length] = DecodeUtf8(stem.data() + at, stem.size() - at);
        CHECK(code != kReplacementCharacter);
        at += length;
      }
    }
  }
}

TEST(stemmer_has_every_supported_language) {
  for (const char* language : {"bg", "cs", "fa", "he", "hr", "pl", "sk", "sl", "uk"}) CHECK(Stemmer(language).has_stems());
  for (const char* language : {"ar", "bs", "ca", "da", "de", "el", "en", "es", "eu", "fi", "fr", "ga", "hi", "hr", "hu", "hy",
                               "id", "it", "lt", "nb", "ne", "nl", "nn", "no", "pt", "ro", "ru", "sr", "sv", "ta",
                               "tr", "yi"}) {
    CHECK(Stemmer(language).has_stems());
  }
  for (const char* language : {"none", "", "ja", "porter", "english", "xx", "\xff"}) {
    CHECK(!Stemmer(language).has_stems());
    CHECK_EQ(Stemmer(language).Stem("connections"), "");
  }
}

TEST(stemmer_strips_possessives_and_elided_articles) {
  CHECK(SameStem("en", {"john", "john's", "john'"}));
  CHECK(SameStem("fr", {"avion", "l'avion", "d'avions"}));
  CHECK(SameStem("it", {"acqua", "dell'acqua"}));
  Stemmer french("fr");
  CHECK(french.Stem("aujourd'hui") != french.Stem("hui"));
  CHECK(Stemmer("en").Stem("o'clock") != Stemmer("en").Stem("clock"));
}

TEST(stemmer_gives_no_stem_for_numbers_and_very_long_terms) {
  Stemmer stemmer("en");
  CHECK_EQ(stemmer.Stem("xr500s"), "");
  CHECK_EQ(stemmer.Stem("1990s"), "");
  CHECK_EQ(stemmer.Stem(std::string(kStemmedBytesMax + 1, 'a')), "");
  CHECK_EQ(stemmer.Stem(""), "");
  CHECK_EQ(stemmer.Stem("'s"), "");
}

TEST(stemmer_is_kept_for_each_thread) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        CHECK_EQ(ThreadStemmer("en").Stem("running"), "run");
        CHECK_EQ(ThreadStemmer("de").Stem("hausern"), "haus");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gannet::test
