#include "union_frequency.h"

#include <algorithm>
#include <string>
#include <vector>

#include "../common/stop.h"

namespace gannet {
namespace {

// Up to this number of postings, counting is faster than a look-up in the cache.
constexpr uint64_t kCountedAnewMax = 32;
// Up to this number of postings, sorting is cheaper than marking in a bitset of the whole segment.
constexpr uint64_t kSortedPostingsMax = 2048;

template <typename Visit>
void ForEachDocument(const PostingList& list, Visit&& visit) {
  uint32_t documents[kBlockSize];
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    StopIfAsked();
    list.DecodeDocuments(block, documents);
    const uint32_t length = list.block_length(block);
    for (uint32_t i = 0; i < length; ++i) visit(documents[i]);
  }
}

uint32_t CountBySorting(std::span<const PostingList* const> lists) {
  std::vector<uint32_t> documents;
  for (const PostingList* list : lists) ForEachDocument(*list, [&](uint32_t document) { documents.push_back(document); });
  std::sort(documents.begin(), documents.end());
  return static_cast<uint32_t>(std::unique(documents.begin(), documents.end()) - documents.begin());
}

uint32_t CountByMarking(std::span<const PostingList* const> lists, uint32_t document_count) {
  std::vector<uint64_t> marks(document_count / 64 + 1);
  uint32_t count = 0;
  for (const PostingList* list : lists) {
    ForEachDocument(*list, [&](uint32_t document) {
      if (document >= document_count) return;  // Only if damaged blocks overlap.
      uint64_t& word = marks[document / 64];
      const uint64_t bit = uint64_t{1} << (document % 64);
      count += (word & bit) == 0;
      word |= bit;
    });
  }
  return count;
}

uint32_t CountInSegment(const PreparedQuery& query, std::span<const uint32_t> terms, uint32_t index) {
  std::vector<const PostingList*> lists;
  uint64_t postings = 0;
  for (const uint32_t term : terms) {
    const PostingList& list = query.terms[term].lists[index];
    if (list.document_frequency() == 0) continue;
    lists.push_back(&list);
    postings += list.document_frequency();
  }
  if (lists.size() <= 1) return static_cast<uint32_t>(postings);
  if (postings <= kCountedAnewMax) return CountBySorting(lists);
  std::string key;
  for (const uint32_t term : terms) {
    if (query.terms[term].lists[index].document_frequency() > 0) AppendKeyPart(query.terms[term].text, &key);
  }
  const Segment& segment = *query.generation->segments[index].segment;
  if (const auto kept = segment.cache().union_frequencies.Find(key)) return *kept;
  const uint32_t count = postings <= kSortedPostingsMax ? CountBySorting(lists)
                                                        : CountByMarking(lists, segment.document_count());
  segment.cache().union_frequencies.Keep(key, count);
  return count;
}

}  // namespace

uint64_t CountUnion(const PreparedQuery& query, std::span<const uint32_t> terms) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < query.has_terms.size(); ++i) {
    if (query.has_terms[i]) count += CountInSegment(query, terms, i);
  }
  return count;
}

}  // namespace gannet
