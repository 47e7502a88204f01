#include "vocabulary.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <optional>
#include <string_view>

#include "../analysis/stemmer.h"
#include "../common/error.h"
#include "../vocabulary/compounds.h"

namespace gannet {
namespace {

// The order of the terms that a word may stand for depends on how often they occur. It is computed again once more than
// 1/kDocumentsShare of the documents have changed; for a list of fewer documents, after each change.
constexpr uint64_t kDocumentsShare = 64;

uint64_t NewName() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Vocabulary NewVocabulary() {
  const uint64_t name = NewName();
  return {name, name, name};
}

// A word of a query that is compared with terms that appeared or disappeared.
class SoughtAmongChanged {
 public:
  SoughtAmongChanged(const std::string& word, uint32_t edits)
      : word_(word), edits_(HasDigit(word) ? 0 : edits), has_stems_(!HasDigit(word)), sketch_(word) {}

  bool MayStandFor(const ChangedTerm& term) {
    return term.term == word_ || MayBeMisspelt(term) || HasStem(term) || IsCompoundOfIt(term);
  }

 private:
  bool MayBeMisspelt(const ChangedTerm& term) const {
    const uint32_t longer = std::max(sketch_.length, term.sketch.length);
    const uint32_t shorter = std::min(sketch_.length, term.sketch.length);
    return edits_ > 0 && longer - shorter <= edits_ &&
           static_cast<uint32_t>(std::popcount(sketch_.characters ^ term.sketch.characters)) <= 2 * edits_;
  }

  bool HasStem(const ChangedTerm& term) {
    if (!has_stems_ || term.stem.empty()) return false;
    SetLanguage(term.language);
    return stem_ == term.stem;
  }

  bool IsCompoundOfIt(const ChangedTerm& term) {
    if (!has_stems_) return false;
    SetLanguage(term.language);
    return IsCompound(term.term, word_, compound_rule_);
  }

  void SetLanguage(const std::string& language) {
    if (language_ == language) return;
    language_ = language;
    stem_ = ThreadStemmer(language).Stem(word_);
    compound_rule_ = CompoundRuleFor(word_, language);
  }

  const std::string& word_;
  uint32_t edits_;
  bool has_stems_;
  WordSketch sketch_;
  std::optional<std::string> language_;
  std::string stem_;  // for language_
  CompoundRule compound_rule_;
};

void Forget(Vocabulary* vocabulary) {
  auto& since = vocabulary->since;
  size_t batches = 0;
  for (; vocabulary->term_count_since > kChangedTermsMax; ++batches) {
    vocabulary->term_count_since -= since[batches]->terms.size();
    vocabulary->known_from = since[batches]->name;
  }
  since.erase(since.begin(), since.begin() + static_cast<std::ptrdiff_t>(batches));
}

}  // namespace

ChangedTerm::ChangedTerm(const std::string& changed_term, const std::string& of_language)
    : term(changed_term), language(of_language), stem(ThreadStemmer(of_language).Stem(changed_term)), sketch(changed_term) {}

Vocabulary NextVocabulary(const Vocabulary* base, const TermChange& change, uint64_t document_count) {
  const auto& [added, removed, gone_terms] = change;
  // Segments that are removed without a replacement may take terms with them that nobody has determined.
  if (base == nullptr || (added.empty() && !removed.empty() && gone_terms == nullptr)) return NewVocabulary();
  uint64_t came = 0;
  uint64_t went = 0;
  for (const auto& segment : removed) went += segment->document_count();
  auto terms = std::make_shared<ChangedTerms>();
  for (const auto& [segment, changed_terms] : added) {
    if (changed_terms == nullptr) return NewVocabulary();
    came += segment->document_count();
    for (const std::string& term : *changed_terms) terms->terms.emplace_back(term, segment->meta().language);
  }
  if (gone_terms != nullptr && !removed.empty()) {
    for (const std::string& term : *gone_terms) terms->terms.emplace_back(term, removed.front()->meta().language);
  }
  Vocabulary next = *base;
  next.documents_since += std::max(came, went) - std::min(came, went);
  next.term_count_since += terms->terms.size();
  if (next.documents_since * kDocumentsShare > document_count || terms->terms.size() > kChangedTermsMax) {
    return NewVocabulary();
  }
  if (terms->terms.empty()) return next;
  next.name = terms->name = NewName();
  next.since.push_back(std::move(terms));
  Forget(&next);
  return next;
}

std::optional<std::span<const std::shared_ptr<const ChangedTerms>>> ChangedAfter(const Vocabulary& vocabulary, uint64_t name) {
  const std::span since(vocabulary.since);
  if (name == vocabulary.known_from) return since;
  const auto found = std::ranges::find(since, name, [](const auto& terms) { return terms->name; });
  if (found == since.end()) return std::nullopt;
  return since.subspan(static_cast<size_t>(found - since.begin()) + 1);
}

std::vector<bool> FindAffected(const Vocabulary& vocabulary, std::span<const std::string> words,
                               std::span<const uint32_t> edits, std::span<const uint64_t> names) {
  if (edits.size() != words.size() || names.size() != words.size()) {
    throw Error(ErrorCode::kInvalidArgument, "edits or names of another number of words");
  }
  std::vector<bool> affected;
  affected.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    SoughtAmongChanged sought(words[i], edits[i]);
    const auto may_stand_for = [&](const ChangedTerm& term) { return sought.MayStandFor(term); };
    const auto changed = ChangedAfter(vocabulary, names[i]);
    affected.push_back(!changed || std::ranges::any_of(*changed, [&](const auto& terms) {
      return std::ranges::any_of(terms->terms, may_stand_for);
    }));
  }
  return affected;
}

}  // namespace gannet
