// A word of a query, looked for in one segment after the other: the terms of each that it may stand for.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../segment/segment.h"
#include "../vocabulary/segment_cache.h"

namespace gannet {

class SoughtWord {
 public:
  // `word` is a folded term and outlives this; `edits` at most kSpellingEditsMax, 0: spellings are not wanted.
  SoughtWord(const std::string& word, uint32_t edits);

  // Never null. With edits, answered from the segment's cache as a rule: a look-up in a large segment is a walk over
  // memory that no other search has touched of late, three of them for a word.
  std::shared_ptr<const WordForms> FormsIn(const Segment& segment);

 private:
  bool MayHaveSpellings(const Segment& segment);
  WordForms FindForms(const Segment& segment, bool with_spellings);
  void AddStems(const Segment& segment);
  void FindStem(const std::string& language);

  const std::string& word_;
  uint32_t edits_;
  bool has_digit_;
  WordSketch sketch_;
  std::string cache_key_;
  std::vector<uint32_t> near_;   // terms of the segment at hand
  std::vector<WordForm> found_;  // in it, of the kind at hand
  // In the language that was asked for last: that of all segments of a list, as a rule.
  bool has_language_ = false;
  std::string language_;
  std::string stem_;          // empty: none
  bool is_own_stem_ = false;  // the stem may be a term of its own group, which is not stored then
};

}  // namespace gannet
