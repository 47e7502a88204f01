// Tests the analyzer: words in many languages, folding, damaged bytes. analysis.test.ts compares it with Intl.Segmenter.
#include "../kernel/analysis/analyzer.h"

#include <random>
#include <string>
#include <vector>

#include "../kernel/analysis/unicode_data.h"
#include "../kernel/analysis/utf8.h"
#include "../kernel/format.h"
#include "check.h"

namespace gannet {
namespace {

// Returns the terms of the text, each followed by a bar.
std::string Terms(std::string_view text) {
  Analyzer analyzer;
  analyzer.Reset(text);
  Token token;
  std::string terms;
  while (analyzer.Next(&token)) terms.append(token.term).push_back('|');
  return terms;
}

// Returns the words as they are in the text, each followed by a bar.
std::string Words(std::string_view text) {
  Analyzer analyzer;
  analyzer.Reset(text);
  Token token;
  std::string words;
  while (analyzer.Next(&token)) words.append(text.substr(token.begin, token.end - token.begin)).push_back('|');
  return words;
}

std::string RandomText(std::mt19937_64* random, bool well_formed) {
  // Characters of classes that the rules combine, so that random texts reach the corner cases.
  static const std::vector<uint32_t> kCharacters = {
      'a', 'B', '7', '_', '.', '\'', ',', ';', ':', '"', ' ', '\n', 0xad, 0xb7, 0xdf, 0xe9, 0x130, 0x131, 0x300, 0x301,
      0x3c2, 0x434, 0x5d0, 0x5f4, 0x627, 0x640, 0x64b, 0x663, 0x66c, 0x915, 0x93c, 0x94d, 0x9c7, 0x9be, 0xe01, 0xe31,
      0x1100, 0x1161, 0x11a8, 0xac00, 0x200b, 0x200c, 0x200d, 0x2019, 0x2044, 0x20e3, 0x3042, 0x3099, 0x309a, 0x30ab,
      0x30fc, 0x4e2d, 0xfdfa, 0xfe0f, 0xff21, 0xff76, 0xff9e, 0xfffd, 0x1f1e6, 0x1f1e7, 0x1f3fb, 0x1f468, 0x20000,
      0x2f800, 0x30000, 0xe0100, 0x10ffff};
  std::string text;
  const size_t length = (*random)() % 24;
  for (size_t i = 0; i < length; ++i) {
    const uint64_t roll = (*random)();
    if (!well_formed && roll % 5 == 0) {
      text.push_back(static_cast<char>(roll >> 8));
    } else if (roll % 7 == 0) {
      AppendUtf8(static_cast<uint32_t>((roll >> 8) % 0x110000), &text);
    } else {
      AppendUtf8(kCharacters[(roll >> 8) % kCharacters.size()], &text);
    }
  }
  return text;
}

// Returns what NeedsDictionarySegmentation must return, without its short cuts.
bool HasDictionaryCharacter(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = DecodeUtf8(text.data() + at, text.size() - at);
    if (TraitsOf(code).is_dictionary()) return true;
    at += length;
  }
  return false;
}

}  // namespace

TEST(analyzer_finds_words_of_alphabetic_languages) {
  CHECK_EQ(Words("The quick (“brown”) fox can’t jump 32.3 feet, right?"),
           "The|quick|brown|fox|can’t|jump|32.3|feet|right|");
  CHECK_EQ(Words("Größe und Maß: 3,5 kg"), "Größe|und|Maß|3,5|kg|");
  CHECK_EQ(Words("L'été à l'aéroport"), "L'été|à|l'aéroport|");
  CHECK_EQ(Words("¿Cómo estás, señor?"), "Cómo|estás|señor|");
  CHECK_EQ(Words("Ação não é só ilusão"), "Ação|não|é|só|ilusão|");
  CHECK_EQ(Words("Łódź, Gdańsk i Żywiec"), "Łódź|Gdańsk|i|Żywiec|");
  CHECK_EQ(Words("Příliš žluťoučký kůň"), "Příliš|žluťoučký|kůň|");
  CHECK_EQ(Words("árvíztűrő tükörfúrógép"), "árvíztűrő|tükörfúrógép|");
  CHECK_EQ(Words("İstanbul'da ılık"), "İstanbul'da|ılık|");
  CHECK_EQ(Words("Tiếng Việt rất đẹp"), "Tiếng|Việt|rất|đẹp|");
  CHECK_EQ(Words("Blåbærsyltetøy på brød"), "Blåbærsyltetøy|på|brød|");
  CHECK_EQ(Words("Þetta er íslenska"), "Þetta|er|íslenska|");
  CHECK_EQ(Words("col·lecció catalana"), "col·lecció|catalana|");
  CHECK_EQ(Words("Η γρήγορη αλεπού"), "Η|γρήγορη|αλεπού|");
  CHECK_EQ(Words("Съешь ещё этих булок"), "Съешь|ещё|этих|булок|");
  CHECK_EQ(Words("Щастя об'єднує"), "Щастя|об'єднує|");
  CHECK_EQ(Words("ქართული ენა"), "ქართული|ენა|");
  CHECK_EQ(Words("Հայերեն լեզու։"), "Հայերեն|լեզու|");
  CHECK_EQ(Words("צה\"ל ו-ג'ורג'"), "צה\"ל|ו|ג'ורג'|");
  CHECK_EQ(Words("اللغة العربية، ٣٫١٤"), "اللغة|العربية|٣٫١٤|");
  CHECK_EQ(Words("زبان فارسی می‌خواهم"), "زبان|فارسی|می‌خواهم|");
  CHECK_EQ(Words("हिन्दी भाषा।"), "हिन्दी|भाषा|");
  CHECK_EQ(Words("বাংলা ভাষা"), "বাংলা|ভাষা|");
  CHECK_EQ(Words("தமிழ் மொழி"), "தமிழ்|மொழி|");
  CHECK_EQ(Words("ಕನ್ನಡ తెలుగు"), "ಕನ್ನಡ|తెలుగు|");
  CHECK_EQ(Words("한국어 KBS뉴스 2024년"), "한국어|KBS|뉴스|2024|년|");
  CHECK_EQ(Words("አማርኛ ቋንቋ"), "አማርኛ|ቋንቋ|");
  CHECK_EQ(Words("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ"), "ᏣᎳᎩ|ᎦᏬᏂᎯᏍᏗ|");
}

TEST(analyzer_joins_and_splits_words_as_uax_29_says) {
  CHECK_EQ(Words("snake_case __init__ _"), "snake_case|__init__|");
  CHECK_EQ(Words("example.com v1.2.3 a..b 1..2 .5"), "example.com|v1.2.3|a|b|1|2|5|");
  CHECK_EQ(Words("a:b 1:2 a;b 1;2 a,b 1,2"), "a:b|1|2|a|b|1;2|a|b|1,2|");
  CHECK_EQ(Words("'quoted' dogs' o'"), "quoted|dogs|o|");
  CHECK_EQ(Words("x-ray AT&T C++"), "x|ray|AT|T|C|");
  CHECK_EQ(Words("co\xc2\xadop a\xcc\x81.b\xcc\x81"), "co\xc2\xadop|a\xcc\x81.b\xcc\x81|");
  CHECK_EQ(Words(" \xcc\x81" "a"), "a|");
  CHECK_EQ(Words("x² 10½"), "x|²|10|½|");
}

TEST(analyzer_takes_emoji_and_flags_as_words) {
  CHECK_EQ(Terms("I ❤️ NY 😀😀 👍🏽"), "i|❤|ny|😀|😀|👍|");
  CHECK_EQ(Terms("🇩🇪🇫🇷🇮"), "🇩🇪|🇫🇷|🇮|");
  CHECK_EQ(Words("👩‍👩‍👧 1️⃣"), "👩‍👩‍👧|1️⃣|");
  CHECK_EQ(Terms("1️⃣"), "1|");
  CHECK_EQ(Terms("© ® ™ → ★? … – «»"), "");
}

TEST(analyzer_splits_unsegmented_han_and_kana) {
  CHECK_EQ(Words("中国人民"), "中|国|人|民|");
  CHECK_EQ(Words("スーパーマンがすき"), "スーパーマン|が|す|き|");
  CHECK_EQ(Words("iPhone用ケース"), "iPhone|用|ケース|");
  CHECK_EQ(Words("ประเทศไทย abc"), "ประเทศไทย|abc|");
  CHECK_EQ(Words("𠀀𠀁𰀀"), "𠀀|𠀁|𰀀|");
}

TEST(analyzer_keeps_segmented_words) {
  CHECK_EQ(Words("我\u200b爱\u200b中国\u200b"), "我|爱|中国|");
  CHECK_EQ(Words("\u200b東京タワー"), "東京タワー|");
  CHECK_EQ(Words("T恤\u200b, 食べる\u200b"), "T|恤|食べる|");
  CHECK_EQ(Words("ภาษา\u200bไทย\u200b"), "ภาษา|ไทย|");
  CHECK_EQ(Words("foo\u200b" "bar"), "foo|bar|");
  // A mark counts only for the run that it touches.
  CHECK_EQ(Words("中国, 人民\u200b"), "中|国|人民|");
}

TEST(analyzer_folds_letters) {
  CHECK_EQ(Terms("CAFÉ Ångström naïve Ǆungla"), "cafe|angstrom|naive|dzungla|");
  CHECK_EQ(Terms("Straße STRASSE ẞ"), "strasse|strasse|ss|");
  CHECK_EQ(Terms("Øre Đà Łódź Æsir œuvre Þór ıI İ"), "ore|da|lodz|aesir|oeuvre|thor|ii|i|");
  CHECK_EQ(Terms("ΣΊΣΥΦΟΣ σίσυφος ᾳ"), "σισυφοσ|σισυφοσ|α|");
  CHECK_EQ(Terms("Ёлка ЁЛКА"), "елка|елка|");
  CHECK_EQ(Terms("Новый ЙОГУРТ Нови\xcc\x86 И\xcc\x86од їжак"), "новый|йогурт|новй|йод|іжак|");
  CHECK_EQ(Terms("ﬁne Ｆｕｌｌ Ⅷ ℌ"), "fine|full|viii|h|");
  CHECK_EQ(Terms("it’s it's itʼs"), "it's|it's|it's|");
  CHECK_EQ(Terms("__init__ 'n' ʻokina"), "init|n|okina|");
  CHECK_EQ(Terms("e\xcc\x81 q\xcc\xa3\xcc\x87"), "e|q|");
  CHECK_EQ(Terms("col·lecció"), "colleccio|");
}

TEST(analyzer_folds_other_scripts) {
  CHECK_EQ(Terms("إسلام أحمد آب ٱلله"), "اسلام|احمد|اب|الله|");
  CHECK_EQ(Terms("مَدْرَسَةٌ مـــدرسة علی على"), "مدرسه|مدرسه|علي|علي|");
  CHECK_EQ(Terms("٢٠٢٤ २०२४ ２０２４"), "2024|2024|2024|");
  CHECK_EQ(Terms("שָׁלוֹם צה״ל"), "שלום|צה\"ל|");
  CHECK_EQ(Terms("क\u093cलम क़लम"), "क\u093cलम|क\u093cलम|");
  CHECK_EQ(Terms("ক\u09c7\u09be ক\u09cb"), "ক\u09cb|ক\u09cb|");
  CHECK_EQ(Terms("\u1112\u1161\u11ab 한 ㄱㅏ"), "한|한|가|");
  CHECK_EQ(Terms("か\u3099 ｶﾞﾝﾀﾞﾑ ﾊﾟ ｈａ"), "が|ガンダム|パ|ha|");
  CHECK_EQ(Terms("ไก่ น้ำ"), "ไก่|น\u0e49\u0e4d\u0e32|");
}

TEST(analyzer_gives_byte_ranges_and_positions) {
  Analyzer analyzer;
  analyzer.Reset("Ein — Café 😀");
  Token token;
  CHECK(analyzer.Next(&token));
  CHECK_EQ(token.position, 0u);
  CHECK_EQ(token.end, 3u);
  CHECK(analyzer.Next(&token));
  CHECK_EQ(token.position, 1u);
  CHECK_EQ(token.begin, 8u);
  CHECK_EQ(token.end, 13u);
  CHECK(analyzer.Next(&token));
  CHECK_EQ(token.position, 2u);
  CHECK(!analyzer.Next(&token));
  CHECK(!analyzer.Next(&token));
}

TEST(analyzer_reads_ill_formed_utf8_as_separators) {
  CHECK_EQ(Terms("a\xff" "b"), "a|b|");
  CHECK_EQ(Terms("a\xc3"), "a|");
  CHECK_EQ(Terms("a\xe4\xb8" "b"), "a|b|");
  CHECK_EQ(Terms("a\xed\xa0\x80" "b"), "a|b|");          // surrogate
  CHECK_EQ(Terms("a\xc0\x80" "b\xf4\x90\x80\x80"), "a|b|");  // overlong; beyond 10FFFF
  CHECK_EQ(Terms(std::string_view("a\0b", 3)), "a|b|");
}

TEST(analyzer_gives_ordered_well_formed_terms_for_random_bytes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60000; ++round) {
    const std::string text = RandomText(&random, round % 2 == 0);
    Analyzer analyzer;
    analyzer.Reset(text);
    Token token;
    uint32_t last_end = 0;
    uint32_t count = 0;
    while (analyzer.Next(&token)) {
      CHECK(!token.term.empty());
      CHECK(token.begin >= last_end && token.begin < token.end && token.end <= text.size());
      CHECK_EQ(token.position, count++);
      last_end = token.end;
      for (size_t at = 0; at < token.term.size();) {
        const auto [code, length] = DecodeUtf8(token.term.data() + at, token.term.size() - at);
        CHECK(length > 1 || code < 0x80);  // well formed
        at += length;
      }
    }
    CHECK_EQ(NeedsDictionarySegmentation(text), HasDictionaryCharacter(text));
    // Eight bytes are skipped at a time if all of them are ASCII.
    const std::string padded = std::string(static_cast<size_t>(round % 17), 'a') + text;
    CHECK_EQ(NeedsDictionarySegmentation(padded), HasDictionaryCharacter(text));
  }
}

TEST(analyzer_folding_is_idempotent_for_every_character) {
  for (uint32_t code = 0x21; code < 0x30000; ++code) {
    std::string text;
    AppendUtf8(code, &text);
    Analyzer analyzer;
    analyzer.Reset(text);
    Token token;
    if (!analyzer.Next(&token)) continue;
    if (code == 0xe33 || code == 0xeb3) continue;  // AM alone becomes a mark and a letter
    // Marks the character as a segmented word, as one ideograph may fold to several.
    const std::string term(token.term);
    if (Terms(term + "\u200b") != term + "|") test::Fail(__FILE__, __LINE__, term + " gives " + Terms(term));
  }
}

TEST(term_key_shortens_long_terms) {
  std::string scratch;
  const std::string limit(kTermBytesMax, 'a');
  CHECK(TermKey(limit, &scratch).data() == limit.data());
  const std::string_view key = TermKey(limit + "b", &scratch);
  CHECK_EQ(key.size(), kTermPrefixBytes + 33);
  CHECK_EQ(key[kTermPrefixBytes], '\0');
  std::string other;
  CHECK(TermKey(limit + "c", &other) != key);
  CHECK_EQ(TermKey(limit + "b", &other), key);
  // The key does not cut its prefix within a character.
  std::string wide = "a";
  while (wide.size() <= kTermBytesMax) wide += "中";
  CHECK_EQ(TermKey(wide, &scratch).find('\0'), size_t{358});
  CHECK(IsWholeTerm(limit) && IsWholeTerm("a") && !IsWholeTerm(key) && !IsWholeTerm(scratch));
}

TEST(needs_dictionary_segmentation_is_true_for_scripts_without_spaces) {
  for (const char* text : {"ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ", "中", "あ", "ア", "ｱ", "long enough ascii 中", "𠀀", "𰀀"}) {
    CHECK(NeedsDictionarySegmentation(text));
  }
  for (const char* text : {"", "abc", "한국어", "हिन्दी", "עברית", "☃ 。、", "a\xff\xfe" "b"}) {
    CHECK(!NeedsDictionarySegmentation(text));
  }
}

}  // namespace gannet
