// Finds the parts of a word that UAX 29 leaves whole: those joined by full stops, colons and low lines (`example.com`,
// `first_name`), and those that begin with capitals (`parseJson`).
//
// A full stop between digits does not separate: 3.5 is a number. Capitals separate words of ASCII letters into parts of
// two letters or more, if the word begins with a small letter or has at least three parts: NullPointerException, but
// not JavaScript. One or two letters at the beginning stay with what follows them: iPhone, toString and mmHg are single
// words.
//
// Thread-safety: an object has scratch buffers; use one per thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer.h"

namespace gannet {

struct WordPart {
  std::string_view term;  // folded as if the part stood alone
  uint32_t begin;         // byte range in the text
  uint32_t end;
  // Index among the parts of its word, from 0. A piece that capitals separate has the place of its first part.
  uint32_t place;
  bool is_between_marks;  // a whole piece between marks
  bool is_finest;         // not separated any further by capitals
};

class WordParts {
 public:
  // Calls visit(WordPart) for the parts of a token of `text` that are indexed: those of two characters or more, or of
  // one digit. Returns the number of places of all its parts, including those not visited; 0 for a word without parts.
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
  // Adds the parts that capitals separate; returns the number of places that they take, at least 1.
  uint32_t CutAtCapitals(std::string_view text, uint32_t begin, uint32_t end, uint32_t place);
  void CutAtMarks(std::string_view text, uint32_t begin, uint32_t end);
  static bool IsWorthFinding(std::string_view term);

  Analyzer analyzer_;
  std::vector<Range> ranges_;
  std::vector<Range> pieces_;
  std::vector<uint32_t> ends_;
};

}  // namespace gannet
