// Checks that a segment of the same documents has the contents that its format had when it got its number. Any change of that,
// of the layout or of the folding of words and stems, needs a new format, which existing segments do not have.
#include <lmdb.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../kernel/analysis/stemmer.h"
#include "../kernel/format.h"
#include "../kernel/segment/segment_builder.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

using Sums = std::map<char, uint64_t>;

// Sums by the first byte of keys of format 6, for languages whose stems did not change since.
const Sums kSums = {
    {'C', 0x4c9cc626150882f1}, {'L', 0x15421977c681c3a6}, {'M', 0xd7700cf2a4061048},
    {'N', 0x0436d8741f4cb52c}, {'P', 0x94d05006d226de24}, {'R', 0xa59e55f36a4941a7},
    {'S', 0xadb3bad831cfa6ff}, {'T', 0x93b43729f8374896}, {'V', 0xe1d195b839b643b3},
};

// The same for the other languages, of kStemsRevision 1.
const Sums kRevisedSums = {
    {'C', 0x1214109610edba15}, {'L', 0x240023a4c475d015}, {'M', 0xab29835dae45e3d1},
    {'N', 0xaca433a0ed802538}, {'P', 0x6f73d1d5a5ba7a81}, {'R', 0x3fcc2aea82f1105d},
    {'S', 0x3586b4278c1effa1}, {'T', 0x6a51464ac013906e}, {'V', 0xce4171f7cbe50216},
};

// Returns every two-letter tag with stems, one without stems, and the empty tag.
std::vector<std::string> Languages() {
  std::vector<std::string> languages{"", "ja"};
  for (const char first : kLetters) {
    for (const char second : kLetters) {
      const std::string tag{first, second};
      if (Stemmer(tag).has_stems()) languages.push_back(tag);
    }
  }
  return languages;
}

constexpr std::string_view kTexts[] = {
    "www.example.com/first_name: jane.doe@example.org calls parseJson of status:open",
    "Gannets dive; the gannet's diving, dived: 1,200 divers' state-of-the-art wi-fi 3.5mm O'Brien",
    "Straßen der Häuser, Häusern und Grüßen; Fußballweltmeisterschaften",
    "Les chevaux nationaux de l'école étaient ﬁnis, naturellement",
    "las canciones rápidas, niños y niñas corriendo; os corações e as nações",
    "книги читающих девушек, книгой; књигама",
    "τα παιδιά των ανθρώπων έτρεχαν",
    "東京タワーに行った 寿司 カタカナ ﾊﾝｶｸ 한국어를 배우는 사람들",
    "الكتب المدرسية للطلاب والمعلمين",
    "लड़कियों की किताबें किताब",
    "evlerinizden geliyorum çalışmalarımız; İstanbul ISPARTA",
    "nación acción televisión tecnología biologías; coração nações amável possível ciência ciências",
    "passió nació; città qualità",
    "l'eau l'école dell'acqua l'aigua d'or",
    "C# and C++17 on .NET, a Disney+ film; #tag of @name, a+b",
    "talossammekin juoksivat; házaimban könyveinket; bøkenes husene; böckernas",
};

// Texts in languages whose stems changed.
constexpr std::string_view kRevisedTexts[] = {
    "książka książki książce; nowych mieszkań w Warszawie, kurtek i butów; czytałem",
    "kniha knize knih; nové knihy o městech, žlutými botami; dělala",
    "kníh na stoličke, červené topánky, školami",
    "книгою жінок, нові квартири; роботу шукають",
    "книгата книгите, столове и градовете; червената кола",
    "čevlji in knjigo, novih knjigah; stanovanja",
    "knjige knjizi gradova; књигама у новом граду, mlijeko",
    "کتاب‌های خوب کتابها؛ خانه‌ها و بزرگترین شهر ایرانی",
    "הספרים הטובים של הילדה, ספרי ילדים ובתים",
};

std::vector<TestDocument> Documents(bool of_revised) {
  std::vector<TestDocument> documents;
  if (of_revised) {
    uint32_t number = 2000;
    for (const std::string_view text : kRevisedTexts) {
      TestDocument document{number++, {}, {}};
      document.texts.emplace_back(uint16_t{0}, std::string(text));
      documents.push_back(document);
    }
  }
  // More than a block of postings, so that each kind of posting list occurs.
  for (uint32_t i = 0; i < 300; ++i) {
    TestDocument document{(i * 7919) % 1000, {}, {}};
    document.texts.emplace_back(uint16_t{0}, std::string(kTexts[i % std::size(kTexts)]));
    const std::string rare = std::string(i % 5 + 1, 'x') + " word" + std::to_string(i % 40);
    document.texts.emplace_back(uint16_t{1}, "common " + rare);
    if (i % 3 == 0) document.texts.emplace_back(uint16_t{2}, i % 2 == 0 ? "sea" : "common sea");
    document.values.emplace_back(uint16_t{0}, StringValue{"key" + std::to_string(i % 17), i % 2 == 0 ? "" : "Key"});
    for (uint32_t value = 0; value < i % 3; ++value) {
      document.values.emplace_back(uint16_t{1}, StringValue{"tag" + std::to_string((i + value) % 9), ""});
      document.values.emplace_back(uint16_t{3}, static_cast<double>(i % 50 + value) / 4);
    }
    if (i % 4 != 0) document.values.emplace_back(uint16_t{2}, static_cast<double>(i) / 8);
    document.values.emplace_back(uint16_t{4}, static_cast<double>(i % 2));
    document.values.emplace_back(uint16_t{5}, 1.6e12 + 86400000.0 * i);
    if (i % 3 != 0) document.values.emplace_back(uint16_t{6}, PointValue{i % 90 + 0.25, i % 180 + 0.5});
    documents.push_back(document);
  }
  return documents;
}

// Adds the bytes to the sum by FNV-1a, preceded by their length, so that sequences of values are distinct.
void Add(const MDB_val& bytes, uint64_t* sum) {
  const auto byte = [&](uint8_t value) { *sum = (*sum ^ value) * 0x100000001b3; };
  for (int shift = 0; shift < 64; shift += 8) byte(static_cast<uint8_t>(uint64_t{bytes.mv_size} >> shift));
  for (size_t i = 0; i < bytes.mv_size; ++i) byte(static_cast<const uint8_t*>(bytes.mv_data)[i]);
}

void AddFile(const std::string& path, Sums* sums) {
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  MDB_cursor* cursor = nullptr;
  CHECK(mdb_env_create(&env) == 0 && mdb_env_open(env, path.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0) == 0);
  CHECK(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn) == 0 && mdb_dbi_open(txn, nullptr, 0, &dbi) == 0);
  CHECK(mdb_cursor_open(txn, dbi, &cursor) == 0);
  for (MDB_val key, value; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0;) {
    uint64_t* sum = &sums->try_emplace(*static_cast<const char*>(key.mv_data), 0xcbf29ce484222325).first->second;
    Add(key, sum);
    Add(value, sum);
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  mdb_env_close(env);
}

Sums SumsOf(bool of_revised) {
  const TemporaryFolder folder;
  const std::vector<uint8_t> batch = EncodeBatch(Documents(of_revised));
  Sums sums;
  for (const std::string& language : Languages()) {
    if ((StemsRevision(language) != 0) != of_revised) continue;
    SegmentSchema schema = TestSchema();
    schema.language = language;
    const std::string path = folder.File("of-" + language);
    BuildSegment(path, schema, batch);
    AddFile(path, &sums);
  }
  return sums;
}

std::string RowsOf(const Sums& sums) {
  std::string rows;
  for (const auto& [key, sum] : sums) {
    char row[64];
    std::snprintf(row, sizeof(row), "{'%c', 0x%016" PRIx64 "}, ", key, sum);
    rows += row;
  }
  return rows;
}

TEST(segment_contents_are_unchanged_since_its_format_got_its_number) {
  const Sums sums = SumsOf(false);
  if (sums == kSums) return;
  test::Fail(__FILE__, __LINE__,
             "segments hold something else of the same documents than those of format " +
                 std::to_string(kFormatVersion) +
                 " did. Where stems of a language changed, give it the next kStemsRevision (analysis/stemmer.cc), and kSums is of the "
                 "others. Otherwise raise kFormatVersion (kernel/format.h, docs/formats.md), or lists keep segments of both kinds; "
                 "where searches read both alike, leave it. Then kSums is what they hold now: " + RowsOf(sums));
}

TEST(segment_contents_of_revised_languages_are_unchanged_since_their_revision) {
  const Sums sums = SumsOf(true);
  if (sums == kRevisedSums) return;
  test::Fail(__FILE__, __LINE__,
             "segments of the languages in kRevised (analysis/stemmer.cc) hold something else than those of kStemsRevision " +
                 std::to_string(kStemsRevision) + " did: raise it, for each language that changed. kRevisedSums is: " + RowsOf(sums));
}

}  // namespace
}  // namespace gannet::segment_test
