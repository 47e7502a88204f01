#include "longer_words.h"

#include <algorithm>
#include <array>
#include <bit>
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
// Number of documents that are summed at a time, so that memory does not grow with the segment.
constexpr uint32_t kJoinedWindow = 4096;
constexpr uint32_t kWordBits = 64;
// Impacts do not distinguish higher frequencies.
constexpr double kJoinedFrequencyMax = kSaturatedImpact - 1;

struct JoinedTerm {
  const PostingList* list;
  float weight;
};

// The terms of a group that a segment has.
struct JoinedTerms {
  std::vector<JoinedTerm> longer;
  std::vector<JoinedTerm> exact;  // the word, as typed and in other forms
};

// Scale of a whole group, so that a document has the same frequency in any segment.
struct JoinedScale {
  double units;   // what one occurrence in the field of the least weight adds to a frequency
  double weight;  // the greatest weight of the longer words
};

struct WeightedPosting {
  uint32_t document;
  double frequency;
  bool has_exact;
};

// Walks the postings of one term, block by block.
class JoinedCursor {
 public:
  explicit JoinedCursor(const JoinedTerm& term) : list_(*term.list), weight_(term.weight) { Enter(0); }

  bool is_done() const { return place_ == length_; }
  uint32_t document() const { return documents_[place_]; }
  double frequency() {
    if (!has_frequencies_) list_.DecodeFrequencies(block_, frequencies_.data());
    has_frequencies_ = true;
    return double{weight_} * frequencies_[place_];
  }
  void Next() {
    if (++place_ == length_) Enter(block_ + 1);
  }
  // Moves to the first posting whose document is not before `document`.
  void SkipTo(uint32_t document) {
    if (is_done() || this->document() >= document) return;
    if (list_.last_document(block_) < document) Enter(list_.FindBlock(block_, document));
    while (!is_done() && this->document() < document) Next();
  }

 private:
  void Enter(uint32_t block) {
    StopIfAsked();
    block_ = block;
    place_ = length_ = 0;
    has_frequencies_ = false;
    if (block >= list_.block_count()) return;
    length_ = list_.block_length(block);
    list_.DecodeDocuments(block, documents_.data());
  }

  const PostingList& list_;
  float weight_;
  bool has_frequencies_ = false;
  uint32_t block_ = 0;
  uint32_t place_ = 0;
  uint32_t length_ = 0;
  std::array<uint32_t, kBlockSize> documents_;
  std::array<uint32_t, kBlockSize> frequencies_;
};

std::vector<JoinedCursor> CursorsOf(std::span<const JoinedTerm> terms) { return {terms.begin(), terms.end()}; }

// Sums the longer words in a window of consecutive documents.
class JoinedWindow {
 public:
  // Calls visit(posting) for each document that has a longer word, ascending.
  template <typename Visit>
  static void Sum(const JoinedTerms& terms, Visit&& visit) {
    std::vector<JoinedCursor> longer = CursorsOf(terms.longer);
    std::vector<JoinedCursor> exact = CursorsOf(terms.exact);
    JoinedWindow window;
    for (uint64_t first = 0; (first = NextOf(longer, first)) != kNone; first += kJoinedWindow) {
      const auto begin = static_cast<uint32_t>(first);
      for (JoinedCursor& cursor : longer) window.AddAll(begin, &cursor);
      for (JoinedCursor& cursor : exact) window.MarkAll(begin, &cursor);
      window.Empty(begin, visit);
    }
  }

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  using Bits = std::array<uint64_t, kJoinedWindow / kWordBits>;

  // Returns the first document >= `from` that any of the cursors has.
  static uint64_t NextOf(std::span<JoinedCursor> cursors, uint64_t from) {
    uint64_t next = kNone;
    for (JoinedCursor& cursor : cursors) {
      cursor.SkipTo(static_cast<uint32_t>(std::min<uint64_t>(from, kMaxDocumentsPerSegment)));
      if (!cursor.is_done()) next = std::min<uint64_t>(next, cursor.document());
    }
    return next;
  }

  // Calls use(place) for each of the cursor's documents that is in the window. In a damaged list, documents may be out
  // of order.
  template <typename Use>
  static void ForEachIn(uint32_t first, JoinedCursor* cursor, Use&& use) {
    for (cursor->SkipTo(first); !cursor->is_done(); cursor->Next()) {
      const uint32_t place = cursor->document() - first;
      if (cursor->document() >= first && place >= kJoinedWindow) return;
      if (cursor->document() >= first) use(place);
    }
  }

  void AddAll(uint32_t first, JoinedCursor* cursor) {
    ForEachIn(first, cursor, [&](uint32_t place) {
      sums_[place] += cursor->frequency();
      has_any_[place / kWordBits] |= uint64_t{1} << (place % kWordBits);
    });
  }

  void MarkAll(uint32_t first, JoinedCursor* cursor) {
    ForEachIn(first, cursor, [&](uint32_t place) { has_exact_[place / kWordBits] |= uint64_t{1} << (place % kWordBits); });
  }

  template <typename Visit>
  void Empty(uint32_t first, Visit&& visit) {
    for (uint32_t word = 0; word < has_any_.size(); ++word) {
      for (uint64_t bits = has_any_[word]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(bits));
        const uint32_t place = word * kWordBits + bit;
        visit(WeightedPosting{first + place, std::exchange(sums_[place], 0), (has_exact_[word] >> bit & 1) != 0});
      }
    }
    has_any_ = {};
    has_exact_ = {};
  }

  std::array<double, kJoinedWindow> sums_{};
  Bits has_any_{};
  Bits has_exact_{};
};

// Returns the frequency in steps. In a document without the word, one occurrence counts its weight, and each further
// one less.
uint32_t JoinedFrequency(const WeightedPosting& posting, const JoinedScale& scale) {
  const double occurrences = posting.frequency / scale.units;
  const double share = posting.has_exact ? occurrences : occurrences / (occurrences + (1 - scale.weight));
  return static_cast<uint32_t>(std::clamp(share * kJoinedSteps, 1.0, kJoinedFrequencyMax));
}

// Terms are identified by the address of their lists in the segment: the texts of a word's longer words may be many
// times as long.
std::string KeyOf(const JoinedTerms& terms, const JoinedScale& scale) {
  std::string key(reinterpret_cast<const char*>(&scale), sizeof(scale));
  for (const auto* each : {&terms.longer, &terms.exact}) {
    const uint64_t count = each->size();
    key.append(reinterpret_cast<const char*>(&count), sizeof(count));
    for (const JoinedTerm& term : *each) {
      const void* const at = term.list->at();
      key.append(reinterpret_cast<const char*>(&at), sizeof(at));
      key.append(reinterpret_cast<const char*>(&term.weight), sizeof(term.weight));
    }
  }
  return key;
}

JoinedList MakeJoined(const Segment& segment, const JoinedTerms& terms, const JoinedScale& scale) {
  const SegmentMeta& meta = segment.meta();
  const std::span<const uint8_t> norms = segment.norms();
  PostingWriter writer(static_cast<float>(static_cast<double>(meta.weighted_length_sum) / meta.document_count));
  KeptJoinedList joined;
  JoinedWindow::Sum(terms, [&](const WeightedPosting& posting) {
    writer.Add(posting.document, JoinedFrequency(posting, scale), kNoPositions, norms[posting.document]);
    joined.without_exact += !posting.has_exact;
  });
  writer.Finish(&joined.bytes);
  joined.bytes.shrink_to_fit();
  return std::make_shared<const KeptJoinedList>(std::move(joined));
}

JoinedList JoinLists(const Segment& segment, const JoinedTerms& terms, const JoinedScale& scale) {
  const std::string key = KeyOf(terms, scale);
  if (auto kept = segment.cache().joined_lists.Find(key)) return *std::move(kept);
  auto joined = MakeJoined(segment, terms, scale);
  segment.cache().joined_lists.Keep(key, joined);
  return joined;
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
      if (list.document_frequency() > 0) out->push_back({&list, alternative.weight});
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
