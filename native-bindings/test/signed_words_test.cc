// Tests words with the signs beside them: which signs belong to a word, and that any bytes give a range around the word.
#include "../kernel/analysis/signed_words.h"

#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet {
namespace {

// Returns the terms with signs, each followed by the text that it stands for.
std::string Signed(std::string_view text) {
  Analyzer analyzer;
  SignedWords signed_words;
  analyzer.Reset(text);
  Token token;
  std::string all;
  while (analyzer.Next(&token)) {
    const SignedWord word = signed_words.Find(text, token);
    if (word.term.empty()) continue;
    CHECK(IsSigned(word.term) && !IsSigned(token.term));
    all += std::string(word.term) + '=' + std::string(text.substr(word.begin, word.end - word.begin)) + ' ';
  }
  return all;
}

}  // namespace

TEST(signed_words_are_followed_by_number_signs_and_pluses) {
  CHECK_EQ(Signed("C, C#, C++ and F#."), "c#=C# c++=C++ f#=F# ");
  CHECK_EQ(Signed("Objective-C++, Disney+; (A+) 18+"), "c++=C++ disney+=Disney+ a+=A+ 18+=18+ ");
  CHECK_EQ(Signed("C++17 and C#8"), "c++=C++ c#=C# ");
  CHECK_EQ(Signed("Ｃ＃ Ｃ＋＋ C♯ Канал+"), "c#=Ｃ＃ c++=Ｃ＋＋ c#=C♯ канал+=Канал+ ");
}

TEST(signed_words_are_preceded_by_full_stops_number_signs_and_at_signs) {
  CHECK_EQ(Signed(".NET #Search @jane (.env) \".com\" #5"), ".net=.NET #search=#Search @jane=@jane .env=.env .com=.com #5=#5 ");
  CHECK_EQ(Signed("＃タグ #тег"), "#タグ=＃タグ #тег=#тег ");
}

TEST(signed_words_share_no_sign_with_what_else_stands_beside_it) {
  CHECK_EQ(Signed("a+b x++y n+1 page#5 v1+2 jane@example end.Then ASP.NET C### C+++ word#tag"), "");
  CHECK_EQ(Signed("...and foo().bar &#39; ## @@x 3.5 .5 a & b -5 $100 50%"), "");
  CHECK_EQ(Signed("été@x été#x ж.net"), "");
  CHECK_EQ(Signed("page_#5 e\u0301@x c\u0301.net c\u00ad#x 5\ufe0f\u20e3@x"), "");
  CHECK_EQ(Signed("c\u0301#5"), "c#=c\u0301# ");
  CHECK_EQ(Signed("\u0301#x"), "#x=#x ");
}

TEST(signed_words_contain_their_words_in_any_bytes) {
  std::mt19937_64 random(13);
  const std::vector<std::string> kPieces = {"C", "b", "7", "+", "#", ".", "@", "＃", "＋", "♯", "é", "\xef", "\xbc",
                                            "\x83", "\xe2\x99", "カ", "_", " ", "\xe2\x80\x8b", "\xff",
                                            "\xcc\x81", "\xc2\xad", "\xe2\x80\x8d", "\xe2\x80\xbf"};
  Analyzer analyzer;
  SignedWords signed_words;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint64_t length = random() % 12; length > 0; --length) text += kPieces[random() % kPieces.size()];
    analyzer.Reset(text);
    Token token;
    uint32_t end = 0;
    while (analyzer.Next(&token)) {
      const SignedWord word = signed_words.Find(text, token);
      if (word.term.empty()) {
        end = token.end;
        continue;
      }
      CHECK(word.begin >= end && word.begin <= token.begin && word.end >= token.end && word.end <= text.size());
      CHECK((word.begin == token.begin) != (word.end == token.end));
      CHECK(word.term.find(token.term) != std::string_view::npos && word.term.size() <= token.term.size() + 2);
      CHECK(IsSigned(word.term));
      end = word.end;
    }
  }
}

}  // namespace gannet
