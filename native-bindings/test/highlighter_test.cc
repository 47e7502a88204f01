// Tests the highlighter: choice of the passage, marks, and safe HTML and JSON for any text.
#include "../kernel/highlight/highlighter.h"

#include <random>
#include <string>
#include <vector>

#include "../kernel/analysis/utf8.h"
#include "../kernel/common/json_writer.h"
#include "../kernel/highlight/json_scanner.h"
#include "../kernel/query/query_plan.h"
#include "check.h"

namespace gannet {
namespace {

HighlightTerms Terms(std::initializer_list<const char*> terms) {
  HighlightTerms result;
  for (const char* term : terms) result.terms.push_back(term);
  return result;
}

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result.append(text);
  return result;
}

// Returns the number of characters that a reader sees, or -1 if there are tags or entities that the highlighter does not write.
int CountShown(std::string_view html) {
  int count = 0;
  bool open = false;
  while (!html.empty()) {
    if (html.starts_with("<em>") && !open) {
      open = true;
      html.remove_prefix(4);
      continue;
    }
    if (html.starts_with("</em>") && open) {
      open = false;
      html.remove_prefix(5);
      continue;
    }
    size_t length = 0;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (html.starts_with(entity)) length = std::string_view(entity).size();
    }
    if (length == 0) {
      const auto [code, bytes] = DecodeUtf8(html.data(), html.size());
      if (code == '<' || code == '>' || code == '&' || code == '"' || code == '\'') return -1;
      length = bytes;
    }
    html.remove_prefix(length);
    ++count;
  }
  return open ? -1 : count;
}

}  // namespace

TEST(highlight_marks_words_as_they_are_written) {
  CHECK_EQ(HighlightText("Ein Café in Köln", Terms({"cafe", "koln"})), "Ein <em>Café</em> in <em>Köln</em>");
  CHECK_EQ(HighlightText("nothing here", Terms({"cafe"})), "");
  CHECK_EQ(HighlightText("", Terms({"cafe"})), "");
  CHECK_EQ(HighlightText("abc", Terms({})), "");
  CHECK_EQ(HighlightText("我\u200b爱\u200b中国\u200b", Terms({"中国"})), "我爱<em>中国</em>");
}

TEST(highlight_escapes_html) {
  CHECK_EQ(HighlightText("<b>\"AT&T's\"</b> cafe", Terms({"cafe", "b"})),
           "&lt;<em>b</em>&gt;&quot;AT&amp;T&#39;s&quot;&lt;/<em>b</em>&gt; <em>cafe</em>");
  CHECK_EQ(HighlightText("it's", Terms({"it's"})), "<em>it&#39;s</em>");
  CHECK_EQ(HighlightText("x\xff" "y", Terms({"y"})), "x\xef\xbf\xbd<em>y</em>");
}

TEST(highlight_chooses_the_passage_with_most_different_words) {
  const std::string filler = Repeat("lorem ipsum ", 40);
  const std::string text = "cafe cafe cafe " + filler + "cafe and koln " + filler + "koln";
  const std::string html = HighlightText(text, Terms({"cafe", "koln"}));
  CHECK(html.find("<em>cafe</em> and <em>koln</em>") != std::string::npos);
  CHECK(html.starts_with("… ") && html.ends_with(" …"));
  CHECK(CountShown(html) <= 200 && CountShown(html) > 150);
  // Of passages with as many different words, the one with most matches wins, then the first.
  const std::string dense = HighlightText("koln " + filler + "koln koln " + filler + "koln koln", Terms({"koln"}));
  CHECK(dense.find("<em>koln</em> <em>koln</em>") != std::string::npos);
  CHECK(dense.ends_with(" …"));
}

TEST(highlight_cuts_between_words) {
  const std::string text = Repeat("alpha beta ", 50) + "cafe" + Repeat(" gamma delta", 50);
  const std::string html = HighlightText(text, Terms({"cafe"}));
  std::string words = html;
  for (const char* known : {"alpha", "beta", "gamma", "delta", "<em>cafe</em>", "…"}) {
    for (size_t at; (at = words.find(known)) != std::string::npos;) words.erase(at, std::string_view(known).size());
  }
  CHECK_EQ(words.find_first_not_of(' '), std::string::npos);
  // Han text has no spaces to cut at.
  const int shown = CountShown(HighlightText(Repeat("漢", 300) + " cafe", Terms({"cafe"})));
  CHECK(shown > 190 && shown <= 200);
}

TEST(highlight_cuts_a_word_that_is_too_long) {
  const std::string word(1000, 'a');
  const std::string html = HighlightText("x " + word + " y", Terms({word.c_str()}));
  CHECK_EQ(CountShown(html), 200);
  CHECK(html.starts_with("… <em>aaa") && html.ends_with("a</em> …"));
}

TEST(highlight_marks_phrases_only_as_phrases) {
  HighlightTerms terms;
  terms.phrases = {{"new", "york"}, {"york", "city"}};
  CHECK_EQ(HighlightText("New York, York new new york City", terms),
           "<em>New</em> <em>York</em>, York new <em>new</em> <em>york</em> <em>City</em>");
  CHECK_EQ(HighlightText("new and york", terms), "");
  terms.terms.push_back("and");
  CHECK_EQ(HighlightText("new and york", terms), "new <em>and</em> york");
}

TEST(highlight_marks_parts_of_words) {
  CHECK_EQ(HighlightText("See www.Straße.de/first_name", Terms({"strasse", "name"})),
           "See www.<em>Straße</em>.de/first_<em>name</em>");
  // A match of the word has precedence over matches of its parts.
  CHECK_EQ(HighlightText("node.js, js", Terms({"js", "node.js", "node"})), "<em>node.js</em>, <em>js</em>");
  HighlightTerms terms;
  terms.phrases = {{"parse", "json", "fast"}, {"doe", "jane"}, {"one", "two"}};
  CHECK_EQ(HighlightText("utils.parseJson_fast jane.doe doe.jane one.x two", terms),
           "utils.<em>parse</em><em>Json</em>_<em>fast</em> jane.doe <em>doe</em>.<em>jane</em> one.x two");
}

TEST(highlight_fields_reads_strings_and_arrays) {
  const HighlightTerms terms = Terms({"cafe", "koln"});
  CHECK_EQ(HighlightFields(R"({"a":"cafe","b":1,"c":["x",2,{"cafe":"cafe"},"cafe","cafe Köln"],"d":{"a":"cafe"}})",
                           {"a", "b", "c", "d", "e"}, terms),
           R"({"a":"<em>cafe</em>","c":"<em>cafe</em> <em>Köln</em>"})");
  CHECK_EQ(HighlightFields(R"( { "a" : "caf\u00e9 \"\ud83d\ude00\" \ud83d" , "z":null} )", {"a"}, terms),
           "{\"a\":\"<em>café</em> &quot;😀&quot; �\"}");
  CHECK_EQ(HighlightFields(R"({"\u0061":"line\ncafe\u0001"})", {"a"}, terms),
           "{\"a\":\"line\\u000a<em>cafe</em>\\u0001\"}");
  CHECK_EQ(HighlightFields(R"({"a":"cafe","a":"none"})", {"a"}, terms), "{}");
}

TEST(highlight_fields_survives_damaged_json) {
  const HighlightTerms terms = Terms({"cafe"});
  const std::vector<std::string> damaged = {
      "", "{", "[]", "null", "{a:1}", R"({"a)", R"({"a")", R"({"a":)", R"({"a":})", R"({"a":"caf)", R"({"a":"\)",
      R"({"a":"\u12"})", R"({"a":"\x"})", R"({"b":[[[[)", R"({"b":]})", R"({"a":["caf)"};
  for (const std::string& json : damaged) {
    CHECK_EQ(HighlightFields(json, {"a"}, terms), "{}");
  }
  CHECK_EQ(HighlightFields("{\"a\":\"cafe\",\"b\":", {"a"}, terms), "{\"a\":\"<em>cafe</em>\"}");
  CHECK_EQ(HighlightFields("{\"b\":" + std::string(100000, '[') + ",\"a\":\"cafe\"}", {"a"}, terms), "{}");
}

TEST(fields_need_segmentation_if_a_searched_field_does) {
  CHECK(FieldsNeedSegmentation(R"({"a":"中国"})", {"a"}));
  CHECK(FieldsNeedSegmentation(R"({"a":["x","中国"]})", {"a"}));
  CHECK(FieldsNeedSegmentation("{\"a\":\"\\u4e2d\"}", {"a"}));
  CHECK(!FieldsNeedSegmentation(R"({"a":"x","b":"中国"})", {"a"}));
  CHECK(!FieldsNeedSegmentation("{\"a\":\"中国\u200b\"}", {"a"}));
  CHECK(!FieldsNeedSegmentation("{\"a\":\"中国\\u200b\"}", {"a"}));
}

TEST(highlight_counts_a_term_given_twice_once) {
  // A passage with two different words wins over one with the same word twice.
  const std::string far = Repeat("and so on ", 30);
  const std::string html = HighlightText("koln koln " + far + " cafe koln", Terms({"koln", "cafe", "koln"}));
  CHECK(html.find("<em>cafe</em> <em>koln</em>") != std::string::npos);
}

TEST(highlight_finds_the_end_of_strings_with_escapes) {
  const HighlightTerms terms = Terms({"cafe"});
  CHECK_EQ(HighlightFields(R"({"x":"\"a\\","a":"\" cafe \\"})", {"a"}, terms), R"({"a":"&quot; <em>cafe</em> \\"})");
  CHECK_EQ(HighlightFields(R"({"x":"\\","a":"cafe"})", {"a"}, terms), R"({"a":"<em>cafe</em>"})");
  CHECK_EQ(HighlightFields(R"({"a":"cafe","x":"\)", {"a"}, terms), R"({"a":"<em>cafe</em>"})");
  CHECK_EQ(HighlightFields(R"({"x":"\"})", {"x"}, terms), "{}");
  // The time is linear for a record full of escapes: the closing quote is not searched for at each of them.
  std::string escapes = "{\"a\":\"";
  for (int i = 0; i < 2'000'000; ++i) escapes += "\\n";
  CHECK_EQ(HighlightFields(escapes + " cafe\"}", {"b"}, terms), "{}");
}

TEST(highlight_marks_words_of_groups_that_a_plan_does_not_exclude) {
  QueryPlan plan;
  plan.groups.resize(2);
  plan.groups[0].alternatives = {{.terms = {"cafe"}}, {.weight = 0.5f, .terms = {"coffee"}}, {.terms = {"new", "york"}}};
  plan.groups[1].occur = Occur::kMustNot;
  plan.groups[1].alternatives = {{.terms = {"tea"}}};
  CHECK_EQ(HighlightText("cafe coffee tea new york york", TermsOfPlan(plan)),
           "<em>cafe</em> <em>coffee</em> tea <em>new</em> <em>york</em> york");
}

TEST(highlight_html_is_safe_for_random_text) {
  std::mt19937_64 random(11);
  const std::vector<std::string> pieces = {"cafe", "koln", " ",  "<em>", "</em>", "<script>", "&", "&lt;", "\"", "'",
                                           "\xff", "\xe4\xb8", "漢", "\u200b", "😀", "\n", "x", "new york", "\\", "\x01"};
  HighlightTerms terms = Terms({"cafe", "em", "script", "lt", "漢", "😀"});
  terms.phrases = {{"new", "york"}, {"koln", "x"}};
  for (int round = 0; round < 10000; ++round) {
    std::string text;
    const size_t count = random() % 120;
    for (size_t i = 0; i < count; ++i) text.append(pieces[random() % pieces.size()]);
    const uint32_t characters_max = 1 + static_cast<uint32_t>(random() % 220);
    const std::string html = HighlightText(text, terms, characters_max);
    const int shown = CountShown(html);
    // The ellipses may exceed a limit below eight characters.
    CHECK(shown >= 0 && shown <= static_cast<int>(std::max(characters_max, 8u)));
    CHECK(html.empty() || html.find("<em>") != std::string::npos);
    // The result for a record is JSON with the same passage.
    std::string record = "{\"a\":";
    AppendJsonString(text, &record);
    const std::string json = HighlightFields(record + "}", {"a"}, terms);
    const std::string passage = HighlightText(text, terms);
    std::string scratch;
    std::string_view value;
    JsonScanner scanner(json);
    CHECK(scanner.Take('{'));
    if (!passage.empty()) {
      CHECK(scanner.ReadString(&scratch, &value) && value == "a" && scanner.Take(':'));
      CHECK(scanner.ReadString(&scratch, &value) && value == passage);
    }
    CHECK(scanner.Take('}'));
  }
}

}  // namespace gannet
