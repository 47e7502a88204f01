// Everything that reads text from outside: the analyzer, the highlighter and its JSON, the record splitter.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../kernel/analysis/analyzer.h"
#include "../kernel/highlight/highlighter.h"
#include "../kernel/text/record_splitter.h"

namespace {

using gannet::RecordFormat;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Analyse(std::string_view text) {
  gannet::Analyzer analyzer;
  analyzer.Reset(text);
  gannet::Token token;
  size_t end = 0;
  while (analyzer.Next(&token)) {
    Require(token.begin >= end && token.end > token.begin && token.end <= text.size() && !token.term.empty());
    end = token.end;
  }
}

void Highlight(std::string_view text) {
  gannet::HighlightTerms terms;
  terms.terms = {"a", "em", "the"};
  terms.phrases = {{"a", "b"}};
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
      // Garbage is refused; what matters is that it is refused in bounds.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Analyse(text);
  Highlight(text);
  Split(text, 1 + data[0] % 16);
  return 0;
}
