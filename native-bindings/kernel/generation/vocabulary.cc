#include "vocabulary.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <string_view>

#include "../analysis/stemmer.h"
#include "../common/error.h"

namespace gannet {
namespace {

// The order of the terms that a word may stand for depends on how often they occur: so much of the documents may be others before it is
// looked at again. A list of fewer has it looked at with each document.
constexpr uint64_t kDocumentsShare = 64;

uint64_t NewName() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Vocabulary NewVocabulary() {
  const uint64_t name = NewName();
  return {name, name};
}

// A word of a query, compared with terms that came.
class SoughtAmongNew {
 public:
  SoughtAmongNew(const std::string& word, uint32_t edits)
      : word_(word), edits_(HasDigit(word) ? 0 : edits), has_stems_(!HasDigit(word)), sketch_(word) {}

  bool MayStandFor(const NewTerm& term) {
    return term.term == word_ || MayBeMisspelt(term) || HasStem(term);
  }

 private:
  bool MayBeMisspelt(const NewTerm& term) const {
    const uint32_t longer = std::max(sketch_.length, term.sketch.length);
    const uint32_t shorter = std::min(sketch_.length, term.sketch.length);
    return edits_ > 0 && longer - shorter <= edits_ &&
           static_cast<uint32_t>(std::popcount(sketch_.characters ^ term.sketch.characters)) <= 2 * edits_;
  }

  bool HasStem(const NewTerm& term) {
    if (!has_stems_ || term.stem.empty()) return false;
    if (language_ != term.language) {
      language_ = term.language;
      stem_ = ThreadStemmer(term.language).Stem(word_);
    }
    return stem_ == term.stem;
  }

  const std::string& word_;
  uint32_t edits_;
  bool has_stems_;
  WordSketch sketch_;
  std::optional<std::string> language_;
  std::string stem_;  // in that language
};

// Of what came since, that which a vocabulary of the name did not have; nothing where the name is none of these.
std::optional<std::span<const std::shared_ptr<const NewTerms>>> CameAfter(const Vocabulary& vocabulary, uint64_t name) {
  const std::span since(vocabulary.since);
  if (name == vocabulary.root) return since;
  const auto found = std::ranges::find(since, name, [](const auto& terms) { return terms->name; });
  if (found == since.end()) return std::nullopt;
  return since.subspan(static_cast<size_t>(found - since.begin()) + 1);
}

}  // namespace

NewTerm::NewTerm(const std::string& new_term, const std::string& of_language)
    : term(new_term), language(of_language), stem(ThreadStemmer(of_language).Stem(new_term)), sketch(new_term) {}

Vocabulary NextVocabulary(const Vocabulary* base, std::span<const SegmentTerms> added,
                          std::span<const std::shared_ptr<const Segment>> removed, uint64_t document_count) {
  // With what goes without anything in its place, terms may go that nobody has looked for.
  if (base == nullptr || (added.empty() && !removed.empty())) return NewVocabulary();
  uint64_t came = 0;
  uint64_t went = 0;
  for (const auto& segment : removed) went += segment->document_count();
  auto terms = std::make_shared<NewTerms>();
  for (const auto& [segment, new_terms] : added) {
    if (new_terms == nullptr) return NewVocabulary();
    came += segment->document_count();
    for (const std::string& term : *new_terms) terms->terms.emplace_back(term, segment->meta().language);
  }
  Vocabulary next = *base;
  next.documents_since += std::max(came, went) - std::min(came, went);
  next.term_count_since += terms->terms.size();
  if (next.documents_since * kDocumentsShare > document_count || next.term_count_since > kNewTermsMax) {
    return NewVocabulary();
  }
  if (terms->terms.empty()) return next;
  next.name = terms->name = NewName();
  next.since.push_back(std::move(terms));
  return next;
}

std::vector<bool> FindAffected(const Vocabulary& vocabulary, std::span<const std::string> words,
                               std::span<const uint32_t> edits, std::span<const uint64_t> names) {
  if (edits.size() != words.size() || names.size() != words.size()) {
    throw Error(ErrorCode::kInvalidArgument, "edits or names of another number of words");
  }
  std::vector<bool> affected;
  affected.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    SoughtAmongNew sought(words[i], edits[i]);
    const auto may_stand_for = [&](const NewTerm& term) { return sought.MayStandFor(term); };
    const auto came = CameAfter(vocabulary, names[i]);
    affected.push_back(!came || std::ranges::any_of(*came, [&](const auto& terms) {
      return std::ranges::any_of(terms->terms, may_stand_for);
    }));
  }
  return affected;
}

}  // namespace gannet
