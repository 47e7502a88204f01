// Tests the parts of words: their borders, which of them are searchable, and that they lie within their words.
#include "../kernel/analysis/word_parts.h"

#include <random>
#include <string>
#include <vector>

#include "../kernel/analysis/utf8.h"
#include "check.h"

namespace gannet {
namespace {

// Returns the parts of each word as place, kind and text, then "/" and the number of places. The kind is - for a part between
// marks, + for a finest part, and = for both.
std::string Parts(std::string_view text) {
  Analyzer analyzer;
  WordParts parts;
  analyzer.Reset(text);
  Token token;
  std::string all;
  while (analyzer.Next(&token)) {
    const uint32_t places = parts.Visit(text, token, [&](const WordPart& part) {
      const char* kind = !part.is_finest ? "-" : part.is_between_marks ? "=" : "+";
      all += std::to_string(part.place) + kind + std::string(text.substr(part.begin, part.end - part.begin)) + ' ';
    });
    if (places > 0) all += '/' + std::to_string(places) + ' ';
  }
  return all;
}

}  // namespace

TEST(word_parts_are_split_at_full_stops_colons_and_low_lines) {
  CHECK_EQ(Parts("www.Example.com"), "0=www 1=Example 2=com /3 ");
  CHECK_EQ(Parts("first_name status:open"), "0=first 1=name /2 0=status 1=open /2 ");
  CHECK_EQ(Parts("report_2024_1"), "0=report 1=2024 2=1 /3 ");
  CHECK_EQ(Parts("Straße_Ａｂｃ．ｄｅｆ"), "0=Straße 1=Ａｂｃ 2=ｄｅｆ /3 ");
  CHECK_EQ(Parts("__init__ plain word's 3.5 1.2.3 10:30 a-b"), "");
  // Single letters take a place, but are not searchable.
  CHECK_EQ(Parts("J.Doe"), "1=Doe /2 ");
  CHECK_EQ(Parts("U.S.A e.g"), "/3 /2 ");
}

TEST(word_parts_begin_with_capitals) {
  CHECK_EQ(Parts("parseJson"), "0+parse 1+Json /2 ");
  CHECK_EQ(Parts("NullPointerException"), "0+Null 1+Pointer 2+Exception /3 ");
  CHECK_EQ(Parts("loadXMLFile"), "0+load 1+XML 2+File /3 ");
  CHECK_EQ(Parts("utils.parseJson_fast"), "0=utils 1-parseJson 1+parse 2+Json 3=fast /4 ");
  CHECK_EQ(Parts("JavaScript McDonald iPhone toString mmHg DNA RNAs LaTeX getXValue parse1Json parseJ"), "");
  CHECK_EQ(Parts("longRNAs"), "0+long 1+RNAs /2 ");
  CHECK_EQ(Parts("iPhonePlusCase"), "0+iPhone 1+Plus 2+Case /3 ");
}

TEST(word_parts_lie_within_their_words_in_order) {
  std::mt19937_64 random(11);
  const std::vector<std::string> kPieces = {"a", "B", "cd", "E.f", "_", ".", ":", "7", "é", "\xcc\x81", "．", "カ", "한", "ש", "'", "\xff", " "};
  Analyzer analyzer;
  WordParts parts;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t length = random() % 16; length > 0; --length) text += kPieces[random() % kPieces.size()];
    analyzer.Reset(text);
    Token token;
    while (analyzer.Next(&token)) {
      const std::string term(token.term);
      uint32_t last = 0;
      uint32_t begin = token.begin;
      uint32_t highest = 0;
      const uint32_t places = parts.Visit(text, token, [&](const WordPart& part) {
        CHECK(part.begin >= begin && part.end <= token.end && part.begin < part.end);
        CHECK(part.place >= last);
        CHECK(part.term != term && term.find(part.term) != std::string::npos);
        begin = part.begin;
        last = part.place;
        highest = part.place + 1;
      });
      CHECK(highest <= places);
    }
  }
}

}  // namespace gannet
