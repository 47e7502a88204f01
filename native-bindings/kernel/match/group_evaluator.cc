#include "group_evaluator.h"

#include <algorithm>

#include "../window/contributions.h"
#include "../window/selection.h"

namespace gannet {
namespace {

// Fewer rare alternatives are walked separately.
constexpr size_t kPooledAlternativesMin = 2;
// Looking up one of many candidates costs about as much as gathering this many postings.
constexpr uint64_t kGroupLookUpCostPostings = 6;

// Returns the distinct terms of a phrase, and sets `slots` to the index among them of each of its words.
std::vector<uint32_t> DistinctTerms(std::span<const uint32_t> terms, std::vector<uint32_t>* slots) {
  std::vector<uint32_t> distinct(terms.begin(), terms.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  slots->clear();
  for (const uint32_t term : terms) {
    slots->push_back(
        static_cast<uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), term) - distinct.begin()));
  }
  return distinct;
}

bool CanMatch(const PreparedAlternative& alternative, const PreparedQuery& query, uint32_t segment) {
  return std::all_of(alternative.terms.begin(), alternative.terms.end(),
                     [&](uint32_t term) { return query.terms[term].lists[segment].document_frequency() > 0; });
}

}  // namespace

size_t GroupEvaluator::CursorCount(const PreparedGroup& group, const PreparedQuery& query, uint32_t segment) {
  size_t count = 0;
  for (const PreparedAlternative& alternative : group.alternatives) {
    if (CanMatch(alternative, query, segment)) count += alternative.terms.size();
  }
  return count;
}

GroupEvaluator::GroupEvaluator(const PreparedQuery* query, const PreparedGroup* group, uint32_t segment,
                               EvaluatorScratch* scratch, PostingCursor** cursors)
    : query_(query), group_(group), scratch_(scratch) {
  const Segment& source = *query->generation->segments[segment].segment;
  norms_ = source.norms().data();
  document_count_ = source.document_count();
  bound_ = static_cast<float>(group->bound / query->maximum) * kBoundFactor;
  std::vector<uint32_t> slots;
  alternatives_.reserve(group->alternatives.size());
  for (const uint32_t index : group->summing_order) {
    const PreparedAlternative& prepared = group->alternatives[index];
    if (!CanMatch(prepared, *query, segment)) continue;
    PostingCursor* first = *cursors;
    Alternative alternative{prepared.weight, prepared.is_phrase() ? nullptr : first, nullptr};
    if (!prepared.is_phrase()) {
      (*cursors)++->Reset(&query->terms[prepared.terms[0]].lists[segment]);
    } else {
      const std::vector<uint32_t> terms = DistinctTerms(prepared.terms, &slots);
      for (const uint32_t term : terms) (*cursors)++->Reset(&query->terms[term].lists[segment]);
      alternative.phrase = std::make_unique<PhraseMatcher>(&source, slots, std::span<PostingCursor>(first, *cursors));
    }
    cost_ += AlternativeCost(alternative);
    alternatives_.push_back(std::move(alternative));
  }
  // At weight 1, the frequency is that of the posting, so this way and accumulation agree to the bit, and a segment may
  // use it although another one has more of the alternatives.
  if (alternatives_.size() == 1 && alternatives_[0].term != nullptr && alternatives_[0].weight == 1) {
    single_ = alternatives_[0].term;
  }
  walked_count_ = alternatives_.size();
  // A conjunction often needs only a few documents, so it does not pool.
  may_pool_ = !query->has_must && group->scores();
}

const PostingList* GroupEvaluator::plain_term() const {
  const auto found = std::ranges::find_if(alternatives_, [](const Alternative& alternative) {
    return alternative.term != nullptr && alternative.weight == 1;
  });
  return found == alternatives_.end() ? nullptr : &found->term->list();
}

void GroupEvaluator::PoolRareTerms() {
  if (!may_pool_) return;
  may_pool_ = false;
  size_t begin = alternatives_.size();
  while (begin > 0 && !alternatives_[begin - 1].phrase &&
         PooledPostings::IsRare(alternatives_[begin - 1].term->list(), document_count_)) {
    --begin;
  }
  if (alternatives_.size() - begin < kPooledAlternativesMin) return;
  std::vector<PooledPostings::Source> sources;
  for (size_t i = begin; i < alternatives_.size(); ++i) {
    sources.push_back({&alternatives_[i].term->list(), alternatives_[i].weight});
  }
  pooled_ = std::make_unique<PooledPostings>(sources, document_count_, norms_, query_->saturation.data());
  walked_count_ = begin;
}

uint64_t GroupEvaluator::AlternativeCost(const Alternative& alternative) const {
  return alternative.phrase ? alternative.phrase->cost() : alternative.term->document_frequency();
}

uint32_t GroupEvaluator::NextDocument(uint32_t target) {
  uint32_t next = pooled_ ? pooled_->NextDocument(target) : kNoDocument;
  if (next <= target) return next;
  for (Alternative& alternative : walked()) {
    next = std::min(
        next, alternative.phrase ? alternative.phrase->NextDocument(target) : alternative.term->NextDocument(target));
    if (next <= target) break;
  }
  return next;
}

uint32_t GroupEvaluator::NextDocumentBound(uint32_t target) {
  uint32_t next = pooled_ ? pooled_->NextDocument(target) : kNoDocument;
  if (next <= target) return next;
  for (Alternative& alternative : walked()) {
    next = std::min(next, alternative.phrase ? alternative.phrase->NextDocumentBound(target)
                                             : alternative.term->NextDocumentBound(target));
    if (next <= target) break;
  }
  return next;
}

// A saturated sum does not exceed the sum of its saturated parts.
float GroupEvaluator::Bound(WindowRange range) {
  PoolRareTerms();
  const float* saturation = query_->saturation.data();
  float sum = pooled_ ? pooled_->Bound(range) : 0;
  for (Alternative& alternative : walked()) {
    alternative.bound = alternative.phrase ? alternative.phrase->Bound(range, alternative.weight, saturation)
                                           : alternative.term->Bound(range, alternative.weight, saturation);
    sum += alternative.bound;
  }
  const float bound = group_->weight * sum * kBoundFactor;
  excess_ = std::max(bound - bound_, 0.0f);
  return bound - excess_;
}

float GroupEvaluator::BlockBound(const PostingCursor& cursor, uint32_t block, float weight) const {
  return group_->weight * cursor.ComputeBound(block, weight, query_->saturation.data()) * kBoundFactor;
}

float GroupEvaluator::Frequency(uint32_t document, bool any) {
  float sum = 0;
  for (Alternative& alternative : alternatives_) {
    uint32_t frequency = 0;
    if (alternative.phrase) {
      frequency = alternative.phrase->Frequency(document, any);
    } else if (alternative.term->Seek(document)) {
      frequency = any ? 1 : alternative.term->Frequency();
    }
    if (frequency == 0) continue;
    sum += alternative.weight * FrequencyToFloat(frequency);
    if (any) break;
  }
  return sum;
}

bool GroupEvaluator::IsCheaperGathered(WindowRange range, uint64_t candidates) const {
  return candidates * alternatives_.size() * kGroupLookUpCostPostings > CostIn(range);
}

bool GroupEvaluator::has_phrases() const {
  return std::ranges::any_of(alternatives_, [](const Alternative& alternative) { return alternative.phrase != nullptr; });
}

template <typename IsWanted>
void GroupEvaluator::GatherPhrase(WindowRange range, const Alternative& alternative, IsWanted&& is_wanted,
                                  GatheredPostings* out) {
  PhraseMatcher& phrase = *alternative.phrase;
  for (uint32_t document = phrase.NextDocument(range.base); document < range.end;
       document = phrase.NextDocument(document + 1)) {
    const uint32_t offset = document - range.base;
    if (!is_wanted(offset)) continue;
    const uint32_t frequency = phrase.Frequency(document, false);
    if (frequency == 0) continue;
    out->Reserve(1);
    out->offsets[out->count] = offset;
    out->frequencies[out->count++] = alternative.weight * FrequencyToFloat(frequency);
  }
}

// Returns true if any posting of the block may add `least` to a score by itself.
bool GroupEvaluator::MayReach(const Alternative& alternative, uint32_t block, float least) const {
  return least <= 0 || BlockBound(*alternative.term, block, alternative.weight) >= least;
}

void GroupEvaluator::Gather(WindowRange range, float least, GatheredPostings* out) {
  for (const Alternative& alternative : alternatives_) {
    if (alternative.phrase) {
      GatherPhrase(range, alternative, [](uint32_t) { return true; }, out);
      continue;
    }
    PostingCursor& term = *alternative.term;
    uint32_t block = 0;
    const auto choose = [&](uint32_t next) {
      block = next;
      return true;
    };
    term.ForEachRun(range, choose, [&](uint32_t begin, uint32_t end) {
      const uint32_t count = end - begin;
      out->Reserve(count);
      const uint32_t* documents = term.documents() + begin;
      uint32_t* offsets = out->offsets.data() + out->count;
      for (uint32_t i = 0; i < count; ++i) offsets[i] = documents[i] - range.base;
      if (MayReach(alternative, block, least)) {
        const uint32_t* frequencies = term.frequencies() + begin;
        float* weighted = out->frequencies.data() + out->count;
        for (uint32_t i = 0; i < count; ++i) weighted[i] = alternative.weight * FrequencyToFloat(frequencies[i]);
      } else {
        out->bare.push_back({&term, alternative.weight, block, begin, out->count, out->count + count});
      }
      out->count += count;
    });
  }
}

void GroupEvaluator::GatherAmong(WindowRange range, const uint64_t* bits, GatheredPostings* out) {
  uint32_t places[kBlockSize + kVectorPadding];
  for (const Alternative& alternative : alternatives_) {
    if (alternative.phrase) {
      GatherPhrase(range, alternative, [&](uint32_t offset) { return HasBit(bits, offset); }, out);
      continue;
    }
    PostingCursor& term = *alternative.term;
    term.ForEachRun(range, [](uint32_t) { return true; }, [&](uint32_t begin, uint32_t end) {
      const uint32_t* documents = term.documents() + begin;
      const uint32_t found = SelectMarked(documents, end - begin, range.base, bits, places);
      if (found == 0) return;
      out->Reserve(found);
      const uint32_t* frequencies = term.frequencies() + begin;
      for (uint32_t i = 0; i < found; ++i) {
        out->offsets[out->count] = documents[places[i]] - range.base;
        out->frequencies[out->count++] = alternative.weight * FrequencyToFloat(frequencies[places[i]]);
      }
    });
  }
}

void GroupEvaluator::Weigh(WindowRange range, float least, GatheredPostings* out) {
  const TermScoring scoring{norms_, query_->saturation.data(), group_->weight};
  const auto may_reach = [&](uint32_t block) { return MayReach(alternatives_[0], block, least); };
  single_->ForEachRun(range, may_reach, [&](uint32_t begin, uint32_t end) {
    out->Reserve(end - begin);
    const uint32_t* documents = single_->documents() + begin;
    uint32_t* offsets = out->offsets.data() + out->count;
    for (uint32_t i = 0; i < end - begin; ++i) offsets[i] = documents[i] - range.base;
    std::copy_n(single_->contributions(scoring) + begin, end - begin, out->frequencies.data() + out->count);
    out->count += end - begin;
  });
}

void GroupEvaluator::LookUp(std::span<const uint32_t> documents, LookUpScratch* scratch, float* frequencies) {
  std::fill_n(frequencies, documents.size(), 0.0f);
  scratch->postings.resize(std::max(scratch->postings.size(), documents.size()));
  scratch->places.resize(scratch->postings.size());
  for (const Alternative& alternative : alternatives_) {
    if (alternative.phrase) {
      for (size_t i = 0; i < documents.size(); ++i) {
        frequencies[i] += alternative.weight * FrequencyToFloat(alternative.phrase->Frequency(documents[i], false));
      }
      continue;
    }
    PostingCursor& term = *alternative.term;
    scratch->documents.assign(documents.begin(), documents.end());
    const uint32_t count = term.Intersect(static_cast<uint32_t>(documents.size()), scratch->documents.data(),
                                          scratch->postings.data(), scratch->places.data());
    for (uint32_t i = 0; i < count; ++i) {
      frequencies[scratch->places[i]] += alternative.weight * FrequencyToFloat(term.FrequencyOf(scratch->postings[i]));
    }
  }
}

uint64_t GroupEvaluator::MarkTerms(WindowRange range, uint64_t* bits) {
  uint64_t windows = pooled_ ? pooled_->Mark(range, bits) : 0;
  for (const Alternative& alternative : walked()) {
    if (!alternative.phrase) windows |= alternative.term->Mark(range, bits);
  }
  return windows;
}

uint64_t GroupEvaluator::MarkPhrases(WindowRange range, uint64_t* bits) {
  uint64_t windows = 0;
  for (const Alternative& alternative : walked()) {
    if (!alternative.phrase) continue;
    PhraseMatcher& phrase = *alternative.phrase;
    for (uint32_t document = phrase.NextDocument(range.base); document < range.end;
         document = phrase.NextDocument(document + 1)) {
      const uint32_t offset = document - range.base;
      const uint64_t bit = uint64_t{1} << (offset % 64);
      if ((bits[offset / 64] & bit) != 0 || phrase.Frequency(document, true) == 0) continue;
      bits[offset / 64] |= bit;
      windows |= uint64_t{1} << (offset / kWindowSize);
    }
  }
  return windows;
}

}  // namespace gannet
