#include "sought_word.h"

#include <string_view>
#include <utility>
#include <vector>

#include "../analysis/stemmer.h"
#include "../vocabulary/stem_group.h"

namespace gannet {
namespace {

constexpr size_t kNearTerms = 32;

}  // namespace

SoughtWord::SoughtWord(const std::string& word, uint32_t edits)
    : word_(word),
      edits_(edits),
      has_digit_(HasDigit(word)),
      sketch_(word),
      cache_key_(static_cast<char>('0' + edits) + word) {}

std::shared_ptr<const WordForms> SoughtWord::FormsIn(const Segment& segment) {
  if (!MayHaveSpellings(segment)) return std::make_shared<const WordForms>(FindForms(segment, false));
  if (auto kept = segment.cache().word_forms.Find(cache_key_)) return *std::move(kept);
  auto forms = std::make_shared<const WordForms>(FindForms(segment, true));
  if (forms->spellings.byte_count() <= kCachedSpellingBytesMax) segment.cache().word_forms.Keep(cache_key_, forms);
  return forms;
}

// Sets near_ to the terms that the sketches admit, if the segment has sketches. Returns false if there are none.
bool SoughtWord::MayHaveSpellings(const Segment& segment) {
  if (edits_ == 0 || has_digit_) return false;
  const SpellingSketches& sketches = segment.spelling_sketches();
  if (!sketches.is_known()) return true;
  near_.clear();
  // Usually there are about ten: reserve memory once instead of at each doubling.
  near_.reserve(kNearTerms);
  sketches.FindNear(sketch_, edits_, &near_);
  return !near_.empty();
}

WordForms SoughtWord::FindForms(const Segment& segment, bool with_spellings) {
  WordForms forms;
  forms.document_frequency = segment.FindTerm(word_).document_frequency();
  if (has_digit_) return forms;
  found_.clear();
  AddStems(segment);
  forms.stems = PackedForms(found_);
  if (!with_spellings) return forms;
  const SpellingIndex& index = segment.spelling();
  const bool is_sketched = segment.spelling_sketches().is_known();
  found_.clear();
  for (const SpellingMatch& match : is_sketched ? index.FindAmong(near_, word_, edits_) : index.Find(word_, edits_)) {
    const std::string_view term = index.term(match.term);
    found_.push_back({std::string(term), match.distance, segment.FindTerm(term).document_frequency()});
  }
  forms.spellings = PackedForms(found_);
  return forms;
}

void SoughtWord::AddStems(const Segment& segment) {
  FindStem(segment.meta().language);
  if (stem_.empty()) return;
  const std::span<const uint8_t> group = segment.FindStemGroup(stem_);
  if (!group.empty()) {
    VisitStemGroup(stem_, group, [&](std::string_view term, uint64_t document_frequency) {
      found_.push_back({std::string(term), 0, document_frequency});
    });
  } else if (is_own_stem_) {
    const uint32_t document_frequency = segment.FindTerm(stem_).document_frequency();
    if (document_frequency > 0) found_.push_back({stem_, 0, document_frequency});
  }
}

void SoughtWord::FindStem(const std::string& language) {
  if (has_language_ && language_ == language) return;
  has_language_ = true;
  language_ = language;
  Stemmer& stemmer = ThreadStemmer(language);
  stem_ = stemmer.Stem(word_);
  is_own_stem_ = !stem_.empty() && stem_ != word_ && stemmer.Stem(stem_) == stem_;
}

}  // namespace gannet
