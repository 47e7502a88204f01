#include "context_count.h"

#include <algorithm>
#include <bit>

#include "../topk/posting_cursor.h"

namespace gannet {
namespace {

// Looking for one document in a list costs about as much as running over so many postings.
constexpr uint64_t kProbeCostPostings = 64;

// Some documents of a segment, as bits and, where they are few, also one by one.
class DocumentSet {
 public:
  explicit DocumentSet(uint32_t document_count) : document_count_(document_count), words_(document_count / 64 + 1) {}

  uint64_t count() const { return count_; }

  void AddAll() {
    for (uint32_t document = 0; document < document_count_; ++document) Add(document);
  }

  void AddPostings(const PostingList& list) {
    uint32_t documents[kBlockSize];
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      list.DecodeDocuments(block, documents);
      for (uint32_t i = 0; i < list.block_length(block); ++i) Add(documents[i]);
    }
  }

  // Keeps what is in one of the lists, too.
  void IntersectWith(std::span<const PostingList> lists) {
    uint64_t postings = 0;
    for (const PostingList& list : lists) postings += list.document_frequency();
    DocumentSet kept(document_count_);
    if (count_ * kProbeCostPostings * lists.size() < postings) {
      for (const PostingList& list : lists) {
        Probe(list, [&](uint32_t document) { kept.Add(document); });
      }
    } else {
      for (const PostingList& list : lists) {
        Scan(list, [&](uint32_t document) { kept.Add(document); });
      }
    }
    *this = std::move(kept);
  }

  void Remove(const DeletionSet& deletions) {
    if (deletions.deleted_count == 0) return;
    DocumentSet kept(document_count_);
    ForEach([&](uint32_t document) {
      if (!deletions.Contains(document)) kept.Add(document);
    });
    *this = std::move(kept);
  }

  uint64_t CountOf(const PostingList& list) const {
    uint64_t count = 0;
    if (count_ * kProbeCostPostings < list.document_frequency()) {
      Probe(list, [&](uint32_t) { ++count; });
    } else {
      Scan(list, [&](uint32_t) { ++count; });
    }
    return count;
  }

 private:
  void Add(uint32_t document) {
    if (document >= document_count_) return;  // Only where a list is damaged.
    uint64_t& word = words_[document / 64];
    const uint64_t bit = uint64_t{1} << (document % 64);
    count_ += (word & bit) == 0;
    word |= bit;
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t word = 0; word < words_.size(); ++word) ForEachBit(words_[word], word * 64, visit);
  }

  // Visits what is in the list, too, by looking for each document of the set.
  template <typename Visit>
  void Probe(const PostingList& list, Visit visit) const {
    PostingCursor cursor;
    cursor.Reset(&list);
    ForEach([&](uint32_t document) {
      if (cursor.Seek(document)) visit(document);
    });
  }

  // The same by looking at each document of the list.
  template <typename Visit>
  void Scan(const PostingList& list, Visit visit) const {
    uint32_t documents[kBlockSize];
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      list.DecodeDocuments(block, documents);
      for (uint32_t i = 0; i < list.block_length(block); ++i) {
        const uint32_t document = std::min(documents[i], document_count_);
        if (words_[document / 64] >> (document % 64) & 1) visit(document);
      }
    }
  }

  uint32_t document_count_;
  uint64_t count_ = 0;
  std::vector<uint64_t> words_;  // one bit more than there are documents, which is never set
};

std::vector<PostingList> FindLists(const Segment& segment, const ContextWord& word) {
  std::vector<PostingList> lists;
  for (const std::string& term : word) {
    lists.push_back(segment.FindTerm(term));
    if (lists.back().document_frequency() == 0) lists.pop_back();
  }
  return lists;
}

DocumentSet FindContext(const SegmentView& view, std::span<const ContextWord> context) {
  DocumentSet documents(view.segment->document_count());
  std::vector<std::vector<PostingList>> words;
  for (const ContextWord& word : context) words.push_back(FindLists(*view.segment, word));
  const auto postings = [](const std::vector<PostingList>& lists) {
    uint64_t sum = 0;
    for (const PostingList& list : lists) sum += list.document_frequency();
    return sum;
  };
  std::sort(words.begin(), words.end(), [&](const auto& a, const auto& b) { return postings(a) < postings(b); });
  if (words.empty()) {
    documents.AddAll();
  } else {
    for (const PostingList& list : words[0]) documents.AddPostings(list);
  }
  for (size_t i = 1; i < words.size() && documents.count() > 0; ++i) documents.IntersectWith(words[i]);
  documents.Remove(view.deletions);
  return documents;
}

}  // namespace

ContextCounts CountInContext(const Generation& generation, std::span<const ContextWord> context,
                             std::span<const std::string> completions, size_t wanted) {
  ContextCounts counts;
  counts.completions.resize(completions.size());
  std::vector<DocumentSet> sets;
  for (const SegmentView& view : generation.segments) {
    sets.push_back(FindContext(view, context));
    counts.context += sets.back().count();
  }
  size_t found = 0;
  for (size_t i = 0; i < completions.size() && found < wanted && counts.context > 0; ++i) {
    for (size_t segment = 0; segment < sets.size(); ++segment) {
      if (sets[segment].count() == 0) continue;
      counts.completions[i] += sets[segment].CountOf(generation.segments[segment].segment->FindTerm(completions[i]));
    }
    found += counts.completions[i] > 0;
  }
  return counts;
}

}  // namespace gannet
