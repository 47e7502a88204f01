// Fuzzes all that reads text from outside: analyzer, stemmers, highlighter with its JSON, and record splitter.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../kernel/analysis/analyzer.h"
#include "../kernel/analysis/signed_words.h"
#include "../kernel/analysis/stemmer.h"
#include "../kernel/analysis/utf8.h"
#include "../kernel/highlight/highlighter.h"
#include "../kernel/text/record_splitter.h"
#include "fuzz_target.h"

namespace {

using gannet::RecordFormat;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Analyse(std::string_view text) {
  gannet::Analyzer analyzer;
  analyzer.Reset(text);
  gannet::SignedWords signed_words;
  gannet::Token token;
  size_t end = 0;
  while (analyzer.Next(&token)) {
    const gannet::SignedWord word = signed_words.Find(text, token);
    Require(word.term.empty() || (word.begin >= end && word.begin <= token.begin && word.end >= token.end &&
                                  word.end <= text.size()));
    Require(token.begin >= end && token.end > token.begin && token.end <= text.size() && !token.term.empty());
    end = word.term.empty() ? token.end : word.end;
  }
}

// Stems the whole text as one word, and each of its words. Stems must be valid UTF-8.
void Stem(std::string_view text) {
  for (const char* language : {"bg", "cs", "en", "fa", "he", "hr", "pl", "sk", "sl", "uk"}) {
    gannet::Stemmer& stemmer = gannet::ThreadStemmer(language);
    stemmer.Stem(text.substr(0, gannet::kStemmedBytesMax));
    gannet::Analyzer analyzer;
    analyzer.Reset(text);
    gannet::Token token;
    while (analyzer.Next(&token)) {
      const std::string_view stem = stemmer.Stem(token.term);
      for (size_t at = 0; at < stem.size();) {
        const auto [code, length] = gannet::DecodeUtf8(stem.data() + at, stem.size() - at);
        Require(code != gannet::kReplacementCharacter || token.term.find("\xef\xbf\xbd") != std::string_view::npos);
        at += length;
      }
    }
  }
}

void Highlight(std::string_view text) {
  gannet::HighlightTerms terms;
  terms.terms = {"a", "a+", "em", "the"};
  terms.phrases = {{"a", "b"}, {"a+", "b"}};
  gannet::HighlightText(text, terms, 20);
  gannet::HighlightFields(text, {"a", "b"}, terms);
  gannet::FieldsNeedSegmentation(text, {"a", "b"});
}

void Split(std::string_view text, size_t chunk_bytes) {
  for (const RecordFormat format : {RecordFormat::kNdjson, RecordFormat::kJson, RecordFormat::kCsv}) {
    const auto splitter = gannet::RecordSplitter::Create(format, 64);
    try {
      for (size_t at = 0; at < text.size(); at += chunk_bytes) splitter->Push(text.substr(at, chunk_bytes));
      splitter->End();
    } catch (const gannet::Error&) {
      // Garbage must be refused without reading out of bounds.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Analyse(text);
  Stem(text);
  Highlight(text);
  Split(text, 1 + data[0] % 16);
  return 0;
}

std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  std::vector<Input> seeds;
  for (const std::string_view text : {
           "The caf\u00e9's em-dash \u2014 a b, the \u0130stanbul of STRASSE and stra\u00dfe; e\u0301 o\u0308 2.5km 10,000",
           "\u6771\u4eac\u90fd \u30c6\u30b9\u30c8 \uc11c\uc6b8 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u200b \u05d0\u05d1 \u0627\u0644\u0639",
           "{\"a\":\"the em of a b\",\"b\":[\"a\",\"\\u0041 \\ud83d\\ude00\"],\"c\":{\"d\":[1,-2.5e3,true,null]}}",
           "{\"name\":\"one\",\"title\":\"a \\\"b\\\"\"}\n\n{\"name\":\"two\"}\r\n",
           "[{\"name\":\"one\"}, {\"name\":\"t]w}o\", \"a\": [[]]}\n]",
           "name,title,\"a \"\"b\"\"\"\r\none,\"two\nlines\",3\n,,\n",
       }) {
    for (const uint8_t chunk : {0, 5, 15}) {
      Input seed{chunk};
      seed.insert(seed.end(), text.begin(), text.end());
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}
