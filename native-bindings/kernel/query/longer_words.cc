#include "longer_words.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../common/stop.h"
#include "../postings/posting_writer.h"

namespace gannet {
namespace {

constexpr uint32_t kNoPositions[] = {0};
// More postings than this share of the documents are added up by document, fewer are sorted.
constexpr uint64_t kSparseShare = 16;
// Impacts say no more of a frequency that is higher.
constexpr double kJoinedFrequencyMax = kSaturatedImpact - 1;

struct JoinedTerm {
  std::string_view text;
  const PostingList* list;
  float weight;
};

// Of a segment that has each of them.
struct JoinedTerms {
  std::vector<JoinedTerm> longer;
  std::vector<JoinedTerm> exact;  // the word, as typed and in other forms
};

// Of a whole group, so that a document has the same frequency in whatever segment.
struct JoinedScale {
  double units;   // what one occurrence in the field of the least weight adds to a frequency
  double weight;  // the greatest of the longer words
};

struct WeightedPosting {
  uint32_t document;
  double frequency;
  bool has_exact;
};

// Calls visit(document, place in the block, block) for each posting.
template <typename Visit>
void ForEachPosting(const PostingList& list, Visit&& visit) {
  std::array<uint32_t, kBlockSize> documents;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    StopIfAsked();
    list.DecodeDocuments(block, documents.data());
    for (uint32_t i = 0; i < list.block_length(block); ++i) visit(documents[i], i, block);
  }
}

// Calls visit(document, weighted frequency) for each posting of each list.
template <typename Visit>
void ForEachWeighted(std::span<const JoinedTerm> terms, Visit&& visit) {
  std::array<uint32_t, kBlockSize> frequencies;
  for (const JoinedTerm& term : terms) {
    ForEachPosting(*term.list, [&](uint32_t document, uint32_t place, uint32_t block) {
      if (place == 0) term.list->DecodeFrequencies(block, frequencies.data());
      visit(document, double{term.weight} * frequencies[place]);
    });
  }
}

// Ascending by document, each once, with the weighted sum of its frequencies.
std::vector<WeightedPosting> SumOfLists(std::span<const JoinedTerm> terms, uint32_t document_count) {
  std::vector<WeightedPosting> postings;
  uint64_t count = 0;
  for (const JoinedTerm& term : terms) count += term.list->document_frequency();
  if (count * kSparseShare > document_count) {
    std::vector<double> sums(document_count);
    ForEachWeighted(terms, [&](uint32_t document, double frequency) { sums[document] += frequency; });
    for (uint32_t document = 0; document < document_count; ++document) {
      if (sums[document] > 0) postings.push_back({document, sums[document], false});
    }
    return postings;
  }
  postings.reserve(count);
  ForEachWeighted(terms, [&](uint32_t document, double frequency) { postings.push_back({document, frequency, false}); });
  std::ranges::stable_sort(postings, {}, &WeightedPosting::document);
  size_t kept = 0;
  for (const WeightedPosting& posting : postings) {
    if (kept > 0 && postings[kept - 1].document == posting.document) postings[kept - 1].frequency += posting.frequency;
    else postings[kept++] = posting;
  }
  postings.resize(kept);
  return postings;
}

void MarkExact(std::span<const JoinedTerm> terms, std::vector<WeightedPosting>* postings) {
  for (const JoinedTerm& term : terms) {
    auto next = postings->begin();
    ForEachPosting(*term.list, [&](uint32_t document, uint32_t, uint32_t) {
      while (next != postings->end() && next->document < document) ++next;
      if (next != postings->end() && next->document == document) next->has_exact = true;
    });
  }
}

// In steps. One occurrence alone counts its weight, and more of them less and less.
uint32_t JoinedFrequency(const WeightedPosting& posting, const JoinedScale& scale) {
  const double occurrences = posting.frequency / scale.units;
  const double share = posting.has_exact ? occurrences : occurrences / (occurrences + (1 - scale.weight));
  return static_cast<uint32_t>(std::clamp(share * kJoinedSteps, 1.0, kJoinedFrequencyMax));
}

std::string KeyOf(const JoinedTerms& terms, const JoinedScale& scale) {
  std::string key(reinterpret_cast<const char*>(&scale), sizeof(scale));
  for (const auto* each : {&terms.longer, &terms.exact}) {
    key.push_back('|');
    for (const JoinedTerm& term : *each) {
      AppendKeyPart(term.text, &key);
      key.append(reinterpret_cast<const char*>(&term.weight), sizeof(term.weight));
    }
  }
  return key;
}

JoinedList JoinLists(const Segment& segment, const JoinedTerms& terms, const JoinedScale& scale) {
  const std::string key = KeyOf(terms, scale);
  if (auto kept = segment.cache().joined_lists.Find(key)) return *std::move(kept);
  std::vector<WeightedPosting> postings = SumOfLists(terms.longer, segment.document_count());
  MarkExact(terms.exact, &postings);
  const SegmentMeta& meta = segment.meta();
  const std::span<const uint8_t> norms = segment.norms();
  PostingWriter writer(static_cast<float>(static_cast<double>(meta.weighted_length_sum) / meta.document_count));
  KeptJoinedList joined;
  for (const WeightedPosting& posting : postings) {
    writer.Add(posting.document, JoinedFrequency(posting, scale), kNoPositions, norms[posting.document]);
    joined.without_exact += !posting.has_exact;
  }
  writer.Finish(&joined.bytes);
  joined.bytes.shrink_to_fit();
  auto kept = std::make_shared<const KeptJoinedList>(std::move(joined));
  segment.cache().joined_lists.Keep(key, kept);
  return kept;
}

double LeastUnits(const Generation& generation) {
  uint32_t least = std::numeric_limits<uint32_t>::max();
  for (const SegmentView& view : generation.segments) {
    for (const TextFieldMeta& field : view.segment->meta().text_fields) least = std::min(least, field.weight_units);
  }
  return least;
}

bool IsLonger(const PreparedAlternative& alternative) {
  return alternative.kind == AlternativeKind::kCompound && !alternative.is_phrase() && alternative.document_frequency > 0;
}

class LongerWordsJoiner {
 public:
  explicit LongerWordsJoiner(PreparedQuery* query) : query_(*query), scale_{LeastUnits(*query->generation), 0} {}

  void Join(PreparedGroup* group) {
    auto& alternatives = group->alternatives;
    const auto longer = std::ranges::stable_partition(alternatives, std::not_fn(IsLonger));
    group->longer.assign(longer.begin(), longer.end());
    scale_.weight = std::ranges::max(group->longer, {}, &PreparedAlternative::weight).weight;
    alternatives.erase(longer.begin(), longer.end());
    PreparedTerm joined;
    std::vector<SegmentList>& lists = query_.joined_lists.emplace_back();
    for (uint32_t segment = 0; segment < query_.generation->segments.size(); ++segment) AddList(segment, group, &lists);
    for (const SegmentList& list : lists) joined.document_frequency += list.list.document_frequency();
    joined.list_count = static_cast<uint32_t>(lists.size());
    joined.lists = TermLists(lists);
    PreparedAlternative& alternative = alternatives.emplace_back();
    alternative.weight = static_cast<float>(scale_.units) / kJoinedSteps;
    alternative.kind = AlternativeKind::kCompound;
    alternative.is_joined = true;
    alternative.document_frequency = joined.document_frequency;
    alternative.terms.push_back(static_cast<uint32_t>(query_.terms.size()));
    query_.terms.push_back(joined);
  }

 private:
  void AddList(uint32_t index, PreparedGroup* group, std::vector<SegmentList>* lists) {
    JoinedTerms terms;
    const auto add = [&](const PreparedAlternative& alternative, std::vector<JoinedTerm>* out) {
      if (alternative.is_phrase() || alternative.kind == AlternativeKind::kTypo) return;
      const PreparedTerm& term = query_.terms[alternative.terms[0]];
      const PostingList& list = term.lists[index];
      if (list.document_frequency() > 0) out->push_back({term.text, &list, alternative.weight});
    };
    for (const PreparedAlternative& longer : group->longer) add(longer, &terms.longer);
    if (terms.longer.empty()) return;
    for (const PreparedAlternative& exact : group->alternatives) add(exact, &terms.exact);
    const Segment& segment = *query_.generation->segments[index].segment;
    const JoinedList& kept = query_.joined_bytes.emplace_back(JoinLists(segment, terms, scale_));
    lists->push_back({index, PostingList::Parse(kept->bytes, segment.document_count())});
    group->without_exact += kept->without_exact;
  }

  PreparedQuery& query_;
  JoinedScale scale_;
};

}  // namespace

void JoinLongerWords(PreparedQuery* query) {
  for (PreparedGroup& group : query->groups) {
    if (!group.scores() || std::ranges::none_of(group.alternatives, IsLonger)) continue;
    LongerWordsJoiner(query).Join(&group);
  }
}

}  // namespace gannet
