// The parts of a word that UAX 29 leaves whole: what full stops, colons and low lines join (`example.com`, `first_name`),
// and what capitals tell apart (`parseJson`).
//
// A full stop between digits parts nothing: 3.5 is a number. Capitals part words of ASCII letters, each part of two
// letters or more, where the word begins with a small letter or has three parts: NullPointerException, but not
// JavaScript. One or two letters at the begin go with what follows them: iPhone, toString and mmHg are one.
//
// Thread-safety: an object has scratch buffers, one per thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer.h"

namespace gannet {

struct WordPart {
  std::string_view term;  // folded as the part by itself would be
  uint32_t begin;         // byte range in the text
  uint32_t end;
  uint32_t place;         // among the parts of its word, from 0; a part that capitals part stands where its first one does
  bool is_between_marks;  // the piece as a whole
  bool is_finest;         // no capitals part it any further
};

class WordParts {
 public:
  // Calls visit(WordPart) for the parts of a token of `text` that are worth finding: of two characters or more, or a
  // digit. Returns how many places its parts take, those of others too; 0 for a word without parts.
  template <typename Visitor>
  uint32_t Visit(std::string_view text, const Token& token, Visitor visit) {
    const uint32_t places = Cut(text, token);
    for (const Range& range : ranges_) {
      analyzer_.Reset(text.substr(range.begin, range.end - range.begin));
      Token part;
      if (!analyzer_.Next(&part) || !IsWorthFinding(part.term)) continue;
      visit(WordPart{part.term, range.begin + part.begin, range.begin + part.end, range.place, range.is_between_marks,
                     range.is_finest});
    }
    return places;
  }

 private:
  struct Range {
    uint32_t begin;
    uint32_t end;
    uint32_t place;
    bool is_between_marks;
    bool is_finest;
  };

  uint32_t Cut(std::string_view text, const Token& token);
  // Adds what capitals part; returns how many places that takes, at least 1.
  uint32_t CutAtCapitals(std::string_view text, uint32_t begin, uint32_t end, uint32_t place);
  void CutAtMarks(std::string_view text, uint32_t begin, uint32_t end);
  static bool IsWorthFinding(std::string_view term);

  Analyzer analyzer_;
  std::vector<Range> ranges_;
  std::vector<Range> pieces_;
  std::vector<uint32_t> ends_;
};

}  // namespace gannet
