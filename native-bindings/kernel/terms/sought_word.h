// A word of a query that is looked for in several segments in turn: finds the terms of each that it may stand for.
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
  // `word` is a folded term and must outlive this object; `edits` is at most kSpellingEditsMax, 0 if no other spellings
  // are wanted.
  SoughtWord(const std::string& word, uint32_t edits);

  // Returns the forms; never null. With edits, the answer usually comes from the segment's cache: a look-up in a large
  // segment walks over memory that no other search has used recently, three times per word.
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
  std::vector<uint32_t> near_;   // terms of the current segment
  std::vector<WordForm> found_;  // forms of the current kind in it
  // State for the language that was asked for last, which usually is that of all segments of a list.
  bool has_language_ = false;
  std::string language_;
  std::string stem_;          // empty if there is none
  bool is_own_stem_ = false;  // the stem may be a term of its own group, which is then not stored
};

}  // namespace gannet
